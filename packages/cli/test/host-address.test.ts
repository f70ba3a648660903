// What the makers of clusters document, and what Node sees of the networks of Docker on a machine with them.
import type { NetworkInterfaceInfo } from 'node:os';
import { expect, it } from 'vitest';
import { bindAddress, hostAddress } from '../src/dev/host-address.js';

const at = (cidr: string, internal = false): NetworkInterfaceInfo => {
  const [address = ''] = cidr.split('/');
  const base = { address, cidr, netmask: '', mac: '02:42:6e:1f:00:01', internal };
  return address.includes(':') ? { ...base, family: 'IPv6', scopeid: 0 } : { ...base, family: 'IPv4' };
};
const machine = {
  lo: [at('127.0.0.1/8', true), at('::1/128', true)],
  eth0: [at('192.168.1.20/24'), at('fe80::1/64')],
  docker0: [at('172.17.0.1/16')],
};
/** `docker network inspect kind` as Docker makes it, with its default pools. */
const kind = { ...machine, 'br-f2b8': [at('172.18.0.1/16'), at('fc00:f853:ccd:e793::1/64')] };

const ask = async (
  context: string,
  nodes: readonly string[] = [],
  {
    platform = 'linux',
    interfaces = kind,
  }: { platform?: string; interfaces?: Parameters<typeof hostAddress>[0]['interfaces'] } = {},
): Promise<string | undefined> =>
  await hostAddress({ context, platform, interfaces, nodeAddresses: () => Promise.resolve(nodes) });

it.each([
  ['k3d-dev', 'host.k3d.internal'],
  ['minikube', 'host.minikube.internal'],
  ['minikube-m02', 'host.minikube.internal'],
  ['docker-desktop', 'host.docker.internal'],
  ['rancher-desktop', 'host.rancher-desktop.internal'],
  ['colima', 'host.lima.internal'],
  ['colima-work', 'host.lima.internal'],
  ['minikubeish', undefined],
  ['gke_shop_europe-west1_prod', undefined],
  ['', undefined],
])('knows what a cluster of the context %j calls this machine', async (context, host) => {
  expect(await ask(context)).toBe(host);
});

it('is the gateway of the network that the nodes of kind are in, on Linux', async () => {
  expect(await ask('kind-kind', ['172.18.0.2'])).toBe('172.18.0.1');
  expect(await ask('kind-kind', ['fc00:f853:ccd:e793::2', '172.18.0.3'])).toBe('172.18.0.1');
  // KIND_EXPERIMENTAL_DOCKER_NETWORK with IPv6 alone
  expect(await ask('kind-kind', ['fc00:f853:ccd:e793::2'])).toBe('fc00:f853:ccd:e793::1');
});

it('goes by the network as it is, and not by its usual size', async () => {
  // default-address-pools of /24 in Docker's daemon.json: the gateway is not x.y.0.1
  const interfaces = { ...machine, 'br-1': [at('192.168.228.1/24')], 'br-2': [at('192.168.229.1/24')] };
  expect(await ask('kind-kind', ['192.168.229.4'], { interfaces })).toBe('192.168.229.1');
});

it('is the name that Docker Desktop has, where its virtual machine has the network', async () => {
  for (const platform of ['darwin', 'win32'])
    expect(await ask('kind-kind', ['172.18.0.2'], { platform, interfaces: machine })).toBe('host.docker.internal');
  // Docker Desktop for Linux, and WSL
  expect(await ask('kind-kind', ['172.18.0.2'], { interfaces: machine })).toBe('host.docker.internal');
});

it.each([
  ['kind-kind', 'linux', ['172.18.0.2'], '172.18.0.1'],
  ['k3d-dev', 'linux', ['172.18.0.4'], '172.18.0.1'],
  ['k3d-dev', 'darwin', ['172.30.0.4'], '127.0.0.1'],
  ['kind-kind', 'win32', ['172.30.0.2'], '127.0.0.1'],
  ['docker-desktop', 'linux', [], '127.0.0.1'],
  ['colima', 'darwin', [], '127.0.0.1'],
  ['minikube', 'linux', ['10.9.8.7'], undefined],
  ['', 'linux', [], undefined],
])('serves webhooks for a cluster of the context %j on %s at %s', async (context, platform, nodes, address) => {
  const facts = { context, platform, interfaces: kind, nodeAddresses: () => Promise.resolve(nodes) };
  expect(await bindAddress(facts)).toBe(address);
});
