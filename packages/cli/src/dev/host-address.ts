import { BlockList, isIP } from 'node:net';

/** An address of this machine, the part of what `os.networkInterfaces()` returns that is used. */
export interface InterfaceAddress {
  readonly address: string;
  /** Address with the length of the prefix; null if the system does not report it. */
  readonly cidr: string | null;
  /** Whether it is a loopback address. */
  readonly internal: boolean;
}

/** Input of {@link hostAddress}. */
export interface HostFacts {
  /** Context of the kubeconfig, whose name identifies the tool that created the cluster. */
  readonly context: string;
  /** Of this machine, as `process.platform`. */
  readonly platform: string;
  /** Of this machine, as `os.networkInterfaces()` returns them. */
  readonly interfaces: Readonly<Record<string, readonly InterfaceAddress[] | undefined>>;
  /** `InternalIP` of a node of the cluster, requested only if needed. */
  readonly nodeAddresses: () => Promise<readonly string[]>;
}

/** Names that virtual machines and nodes have for the machine that they run on; contexts by name, or by what it begins with. */
const names: readonly (readonly [context: RegExp, host: string])[] = [
  // Written to /etc/hosts of the nodes since k3d 3.1.
  [/^k3d-/, 'host.k3d.internal'],
  // Written to /etc/hosts of the node; a further profile is a context of its name, which is not known.
  [/^minikube(-|$)/, 'host.minikube.internal'],
  [/^docker-desktop$/, 'host.docker.internal'],
  [/^rancher-desktop$/, 'host.rancher-desktop.internal'],
  // Lima's, which reaches the loopback addresses of the machine.
  [/^(colima|lima)(-|$)/, 'host.lima.internal'],
];

/** The name or address by which nodes of a cluster on this machine reach it; undefined if not known. */
export async function hostAddress({
  context,
  platform,
  interfaces,
  nodeAddresses,
}: HostFacts): Promise<string | undefined> {
  const named = names.find(([pattern]) => pattern.test(context))?.[1];
  if (named !== undefined) return named;
  if (!context.startsWith('kind-')) return undefined;
  // Docker's virtual machine has a name for its host. On Linux nodes are in a network of which this machine is the gateway.
  const ofDesktop = 'host.docker.internal';
  if (platform !== 'linux') return ofDesktop;
  return gatewayOf(await nodeAddresses(), interfaces) ?? ofDesktop;
}

/**
 * The address of this machine that the webhooks are served at, so that nodes of the cluster reach it and the rest of
 * the network does not. It is that of the network of the nodes, or the loopback address if a virtual machine leads to
 * it. Undefined if neither is known.
 */
export async function bindAddress({
  context,
  platform,
  interfaces,
  nodeAddresses,
}: HostFacts): Promise<string | undefined> {
  const gateway = gatewayOf(await nodeAddresses(), interfaces);
  if (gateway !== undefined) return gateway;
  const isVirtual = /^(?:docker-desktop$|rancher-desktop$|(?:colima|lima)(?:-|$))/.test(context);
  return isVirtual || (platform !== 'linux' && /^(?:kind|k3d)-/.test(context)) ? '127.0.0.1' : undefined;
}

/** The address of this machine in the network that a node is in: IPv4 first, which every cluster has. */
function gatewayOf(nodes: readonly string[], interfaces: HostFacts['interfaces']): string | undefined {
  const own = Object.values(interfaces).flatMap((each) => each ?? []);
  for (const family of ['ipv4', 'ipv6'] as const)
    for (const { address, cidr, internal } of own) {
      if (internal || cidr === null || isIP(address) !== (family === 'ipv4' ? 4 : 6)) continue;
      const network = new BlockList();
      network.addSubnet(address, Number(cidr.split('/')[1]), family);
      const isInside = (node: string): boolean => isIP(node) === isIP(address) && network.check(node, family);
      if (nodes.some((node) => node !== address && isInside(node))) return address;
    }
  return undefined;
}
