// Admission of CONNECT: policies see the options of exec, port-forward and proxy, refuse them and change them.
import { createServer } from 'node:http';
import { isStatusError } from '@kctl/apimachinery';
import {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import type { ApiServer } from '@kctl/apiserver';
import { createEnvironment } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { attach, exec, openPort, proxyRequest } from '../src/index.js';

let environment: TestEnvironment;
let server: ApiServer;
const key = { namespace: 'default', name: 'web' };
const web = createServer((request, response) => response.end(request.url));

const onConnect = (...resources: string[]) => ({
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources }],
});

async function mutate(name: string, resource: string, expression: string): Promise<void> {
  const { client } = environment;
  await client.create(MutatingAdmissionPolicy, {
    metadata: { name },
    spec: {
      matchConstraints: onConnect(resource),
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
    },
  });
  await client.create(MutatingAdmissionPolicyBinding, { metadata: { name }, spec: { policyName: name } });
}

beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded' });
  if (environment.embedded === undefined) throw new Error('not the embedded server');
  server = environment.embedded;
  await server.seed([
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: key,
      spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'app' }] },
      status: { phase: 'Running', podIP: '10.0.0.1' },
    },
  ]);
  server.pods.script(key, {
    exec: ({ command, stdout }) => {
      stdout.write(command.join(' '));
      return 0;
    },
    attach: ({ stdout }) => {
      stdout.write('attached');
      return 0;
    },
    ports: { 80: (connection) => void web.emit('connection', connection) },
  });
  const { client } = environment;
  await client.create(ValidatingAdmissionPolicy, {
    metadata: { name: 'no-shell' },
    spec: {
      matchConstraints: onConnect('pods/exec', 'pods/portforward', 'pods/attach'),
      validations: [
        { expression: "!has(object.command) || object.command[0] != 'sh'", message: 'no shell' },
        { expression: '!has(object.ports) || !(22 in object.ports)', message: 'not port 22' },
        { expression: '!has(object.stdin) || !object.stdin', message: 'no input', reason: 'Forbidden' },
      ],
    },
  });
  await client.create(ValidatingAdmissionPolicyBinding, {
    metadata: { name: 'no-shell' },
    spec: { policyName: 'no-shell', validationActions: ['Deny'] },
  });
});

afterAll(async () => {
  web.closeAllConnections();
  await environment.stop();
});

const refusalOf = async (work: Promise<unknown>): Promise<unknown> => {
  const failure = await work.catch((error: unknown) => error);
  return isStatusError(failure) ? [failure.status.code, failure.message] : failure;
};

it('refuses exec, attach and port-forward by their options, before they are begun', async () => {
  const { client } = environment;
  const refused = (why: string) =>
    expect.stringContaining(`ValidatingAdmissionPolicy 'no-shell' with binding 'no-shell' denied request: ${why}`);
  expect((await exec(client, key, ['ls', '-l'])).stdout).toBe('ls -l');
  expect(await refusalOf(exec(client, key, ['sh', '-c', 'x']))).toEqual([422, refused('no shell')]);
  expect(await refusalOf(exec(client, key, ['cat'], { stdin: 'x' }))).toEqual([403, refused('no input')]);
  expect(await (await attach(client, key)).exited).toBe(0);
  expect(await refusalOf(openPort(client, key, 22))).toEqual([422, refused('not port 22')]);
  (await openPort(client, key, 80)).destroy();
});

it('runs what mutation makes of a command, and leads a proxy to the path that it leaves', async () => {
  const { client } = environment;
  await mutate('nice', 'pods/exec', "[JSONPatch{op: 'add', path: '/command/0', value: 'nice'}]");
  await mutate('path', 'pods/proxy', "[JSONPatch{op: 'replace', path: '/path', value: '/v2' + object.path}]");
  expect((await exec(client, key, ['ls'])).stdout).toBe('nice ls');
  const answer = await proxyRequest(client, key, { port: 80, path: '/a/b?c=d' });
  expect(await answer.text()).toBe('/v2/a/b?c=d');
});
