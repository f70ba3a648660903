/** The executables that Go's envtest starts, and the objects that a real server makes at its start. */
import { execFileSync, spawn } from 'node:child_process';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FlagError, optionsOfFlags } from '../src/envtest/api-server-flags.js';
import { writeEnvtestAssets } from '../src/envtest/assets.js';
import { Flags } from '../src/envtest/flags.js';
import { createCertificateAuthority } from '@kctl/http-server/internal/certificates';
import { harness } from './harness.js';

const moduleOf = (name: string): string => fileURLToPath(new URL(`../src/envtest/${name}.ts`, import.meta.url));
const loader = new URL('../../../scripts/typescript.mjs', import.meta.url).href;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kctl-envtest-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('flags', () => {
  it('are read as Go reads them', () => {
    const flags = new Flags(['--a=1', '--a', '2', '--b', '--c=x,y', '-d=e=f', '--help', 'rest'], new Set(['help']));
    expect([flags.last('a'), flags.all('a'), flags.last('b'), flags.list('c'), flags.last('d')]).toEqual([
      '2',
      ['1', '2'],
      'true',
      ['x', 'y'],
      'e=f',
    ]);
    expect(flags.last('help')).toBe('true');
  });

  it('of envtest describe a server: certificates, authorities, tokens, service accounts, RBAC', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const authority = createCertificateAuthority({ name: 'test-ca', now: Date.now() });
    const file = (name: string, text: string): string => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    const options = optionsOfFlags(
      new Flags([
        '--authorization-mode=Node,RBAC',
        '--bind-address=127.0.0.1',
        '--secure-port=4711',
        `--cert-dir=${directory}`,
        `--client-ca-file=${file('ca.crt', authority.cert)}`,
        '--service-account-issuer=https://127.0.0.1:4711/',
        `--service-account-key-file=${file('sa.crt', createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString())}`,
        `--service-account-signing-key-file=${file('sa.key', key)}`,
        `--token-auth-file=${file('tokens.csv', 'secret,jane,1,"system:masters,dev"\n')}`,
        '--service-account-max-token-expiration=1h30m',
        '--disable-admission-plugins=ServiceAccount',
      ]),
    );
    expect(options).toMatchObject({
      host: '127.0.0.1',
      port: 4711,
      authorization: 'RBAC',
      controllers: false,
      clientAuthorities: [authority.cert],
      tokens: [{ token: 'secret', user: 'jane', groups: ['system:masters', 'dev'] }],
      serviceAccounts: { issuer: ['https://127.0.0.1:4711/'], signingKey: key, maxTokenSeconds: 5400 },
    });
    // Written where it was missing, and found again.
    expect(options.servingCertificate?.cert).toBe(readFileSync(join(directory, 'apiserver.crt'), 'utf8'));
  });

  it('that cannot be used are named', () => {
    const read = (...args: string[]) => optionsOfFlags(new Flags(args));
    expect(() => read('--secure-port=x')).toThrow(
      new FlagError('--secure-port x: expected a whole number from 0 to 65535'),
    );
    expect(() => read('--client-ca-file=/none')).toThrow(/^--client-ca-file \/none: /);
    expect(() => read('--tls-cert-file=/none')).toThrow('give both or neither');
    expect(() => read('--service-account-max-token-expiration=long')).toThrow('expected a duration such as 24h');
  });
});

describe('envtest assets', () => {
  const modules = { etcd: moduleOf('etcd'), 'kube-apiserver': moduleOf('kube-apiserver') };

  it('are executables, flat or where setup-envtest looks for them', () => {
    const flat = writeEnvtestAssets(join(directory, 'flat'), { modules });
    expect(readdirSync(flat).sort()).toEqual(['etcd', 'kube-apiserver', 'kubectl']);
    expect(statSync(join(flat, 'etcd')).mode & 0o111).toBe(0o111);
    const laid = writeEnvtestAssets(directory, { layout: 'setup-envtest', modules });
    expect(laid).toMatch(/\/k8s\/1\.\d+\.\d+-[a-z0-9]+-[a-z0-9]+$/);
    expect(existsSync(join(laid, 'kube-apiserver'))).toBe(true);
  });

  it('take the flags of envtest, answer its probes, know users by certificate, and end on SIGTERM', async () => {
    const target = writeEnvtestAssets(directory, { modules });
    const authority = createCertificateAuthority({ name: 'test-ca', now: Date.now() });
    writeFileSync(join(directory, 'ca.crt'), authority.cert);
    const env = { ...process.env, NODE_OPTIONS: `--conditions=@kctl/source --import ${loader}` };
    const help = execFileSync(join(target, 'kube-apiserver'), ['--help'], { env, encoding: 'utf8' });
    expect(help).not.toContain('--insecure-port');
    const server = spawn(
      join(target, 'kube-apiserver'),
      [
        '--secure-port=0',
        '--authorization-mode=RBAC',
        `--cert-dir=${directory}`,
        `--client-ca-file=${join(directory, 'ca.crt')}`,
        '--etcd-servers=http://127.0.0.1:1',
      ],
      { env },
    );
    const ended = new Promise((resolve) => server.once('close', resolve));
    const port = await new Promise<number>((resolve) => {
      let text = '';
      server.stderr.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const match = /serving on https:\/\/127\.0\.0\.1:(\d+)/.exec(text);
        if (match !== null) resolve(Number(match[1]));
      });
    });
    const { cert, key } = authority.issueClient('admin', ['system:masters']);
    const get = (path: string, credentials: object = {}): Promise<number> =>
      new Promise((resolve, reject) => {
        const ca = readFileSync(join(directory, 'apiserver.crt'), 'utf8');
        const sent = request(
          { host: '127.0.0.1', port, path, rejectUnauthorized: false, ca, ...credentials },
          (answer) => {
            answer.resume();
            resolve(answer.statusCode ?? 0);
          },
        );
        sent.once('error', reject);
        sent.end();
      });
    expect(await get('/healthz')).toBe(200);
    expect(await get('/api/v1/namespaces')).toBe(403);
    expect(await get('/api/v1/namespaces', { cert, key })).toBe(200);
    server.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});

describe('the etcd of envtest', () => {
  it('answers /health, and a path that is not one of a URL', async () => {
    const port = await freePort();
    const etcd = spawn(
      process.execPath,
      [
        '--conditions=@kctl/source',
        '--import',
        loader,
        moduleOf('etcd'),
        `--listen-client-urls=http://127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    );
    const ended = new Promise((resolve) => etcd.once('close', (code) => resolve(code)));
    const get = (path: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const sent = plainRequest({ host: '127.0.0.1', port, path, agent: false }, (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        });
        sent.once('error', reject);
        sent.end();
      });
    await expect.poll(() => get('/health?serializable=true').catch(() => 0), { timeout: 300_000 }).toBe(200);
    expect(await get('//')).toBe(404);
    expect(await get('/version')).toBe(200);
    etcd.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

describe('objects of the start', () => {
  it('are those of a real server: Service, EndpointSlice and Endpoints kubernetes, flow control, priority classes, APIServices', async () => {
    const h = await harness();
    const service = (await h.get('/api/v1/namespaces/default/services/kubernetes')).body;
    expect(service).toMatchObject({
      metadata: { labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: { clusterIP: '10.0.0.1', ports: [{ name: 'https', port: 443 }] },
    });
    const slice = (await h.get('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes')).body;
    expect(slice.metadata.labels).toEqual({ 'kubernetes.io/service-name': 'kubernetes' });
    expect(slice.ports[0].port).toBe(service.spec.ports[0].targetPort);
    const count = async (path: string): Promise<number> => (await h.get(path)).body.items.length;
    expect(await count('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas')).toBe(11);
    expect(await count('/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations')).toBe(8);
    expect(await count('/apis/scheduling.k8s.io/v1/priorityclasses')).toBe(2);
    expect(await count('/apis/apiregistration.k8s.io/v1/apiservices')).toBeGreaterThan(15);
    // The address of the Service is taken.
    const taken = { metadata: { name: 'x' }, spec: { clusterIP: '10.0.0.1', ports: [{ port: 1 }] } };
    expect((await h.post('/api/v1/namespaces/default/services', taken)).status).toBe(422);
  });
});
