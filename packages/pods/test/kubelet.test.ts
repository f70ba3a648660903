// What a server answers where no kubelet does: the same on the embedded one and, with KCTL_TEST_SERVER=real, on a real one.
import { isStatusError } from '@kctl/apimachinery';
import { Node, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { attach, exec, openPort, podLogs, podLogText } from '../src/index.js';

let environment: TestEnvironment;
let namespace: string;
const key = (name: string) => ({ namespace, name });

beforeAll(async () => {
  environment = await createEnvironment();
  namespace = await environment.createNamespace('kubelet');
  const { client } = environment;
  const node = async (name: string, addresses: { type: string; address: string }[]) => {
    await client.create(Node, { metadata: { name } });
    await client.status(Node).patch({ name }, { type: 'merge', body: { status: { addresses } } });
  };
  // Port 1 of this machine refuses connections.
  await node(`${namespace}-down`, [{ type: 'InternalIP', address: '127.0.0.1' }]);
  await client
    .status(Node)
    .patch(
      { name: `${namespace}-down` },
      { type: 'merge', body: { status: { daemonEndpoints: { kubeletEndpoint: { Port: 1 } } } } },
    );
  await node(`${namespace}-nowhere`, []);
  const container = (name: string) => ({ name, image: name });
  const pod = async (name: string, nodeName?: string, containers = [container('app')]) =>
    await client.create(Pod, {
      metadata: key(name),
      spec: { containers, automountServiceAccountToken: false, ...(nodeName === undefined ? {} : { nodeName }) },
    });
  await pod('unassigned');
  await pod('down', `${namespace}-down`);
  await pod('nowhere', `${namespace}-nowhere`);
  await pod('missing', `${namespace}-missing`);
  await pod('two', `${namespace}-down`, [container('app'), container('side')]);
});
afterAll(() => environment.stop());

async function saidBy(work: Promise<unknown>): Promise<readonly unknown[]> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isStatusError(error)) return ['not a Status', error];
  const { code, reason, message = '' } = error.status;
  return [code, reason, message.replaceAll(namespace, 'NS')];
}

const log = (name: string, query = {}) => saidBy(podLogText(environment.client, key(name), query));
const run = (name: string, container = 'app') => saidBy(exec(environment.client, key(name), ['true'], { container }));

it('has no log of a pod that is on no node', async () => {
  expect(await Array.fromAsync(podLogs(environment.client, key('unassigned')))).toEqual([]);
});

it('refuses a log that cannot be', async () => {
  expect([
    await log('none', { container: 'app' }),
    await log('unassigned', { container: 'db' }),
    await log('missing'),
    await log('nowhere'),
    await log('down', { container: 'app', tailLines: 3, timestamps: true }),
  ]).toEqual([
    [404, 'NotFound', 'pods "none" not found'],
    [400, 'BadRequest', 'container db is not valid for pod unassigned'],
    [404, 'NotFound', 'pods "NS-missing" not found'],
    [500, undefined, 'no preferred addresses found; known addresses: []'],
    [
      500,
      undefined,
      'Get "https://127.0.0.1:1/containerLogs/NS/down/app?tailLines=3&timestamps=true": dial tcp 127.0.0.1:1: connect: connection refused',
    ],
  ]);
});

it('asks for a container where there are several', async () => {
  const { transport } = environment.client;
  const path = `/api/v1/namespaces/${namespace}/pods/two/log`;
  const { status, body } = await transport.send({ method: 'GET', path });
  const text = (await Array.fromAsync(body)).flat().join('');
  expect([status, JSON.parse(text).message]).toEqual([
    400,
    'a container name must be specified for pod two, choose one of: [app side]',
  ]);
});

it('refuses a process that cannot be', async () => {
  expect([await run('none'), await run('unassigned'), await run('two', 'db'), await run('missing')]).toEqual([
    [404, 'NotFound', 'pods "none" not found'],
    [400, 'BadRequest', 'pod unassigned does not have a host assigned'],
    [400, 'BadRequest', 'container db is not valid for pod two'],
    [404, 'NotFound', 'pods "NS-missing" not found'],
  ]);
});

it('opens the streams before it knows that the kubelet does not answer', async () => {
  const said = await run('down');
  const attached = await attach(environment.client, key('down'), { container: 'app' });
  expect([said.slice(0, 2), (await saidBy(attached.exited)).slice(0, 2)]).toEqual([
    [500, 'InternalError'],
    [500, 'InternalError'],
  ]);
  expect(said[2]).toMatch(
    /^Internal error occurred: error sending request: .*dial tcp 127.0.0.1:1: connect: connection refused$/,
  );
});

it('does not forward a port of a pod whose kubelet does not answer', async () => {
  const port = (name: string) => saidBy(openPort(environment.client, key(name), 80));
  expect([await port('unassigned'), await port('down')]).toEqual([
    [400, 'BadRequest', 'pod unassigned does not have a host assigned'],
    [500, undefined, 'error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused'],
  ]);
});

it('wants an upgrade', async () => {
  const { transport } = environment.client;
  const answers = await Promise.all(
    ['exec?command=true&stdout=true', 'portforward?ports=80'].map(async (what) => {
      const path = `/api/v1/namespaces/${namespace}/pods/down/${what}`;
      const { status, body } = await transport.send({ method: 'GET', path });
      return [status, JSON.parse((await Array.fromAsync(body)).flat().join('')).message];
    }),
  );
  expect(answers).toEqual([
    [400, 'Upgrade request required'],
    [400, 'Upgrade request required'],
  ]);
});
