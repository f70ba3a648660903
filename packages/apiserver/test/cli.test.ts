import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configMap, configMaps, widgetCrd, widgets } from './harness.js';

const root = join(import.meta.dirname, '../../..');
const cli = join(import.meta.dirname, '../src/cli.ts');
let directory: string;
let child: ChildProcess | undefined;

interface Ready {
  readonly url: string;
  readonly token: string;
  readonly certificateAuthority: string;
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kctl-cli-'));
});
afterEach(async () => {
  if (child?.exitCode === null && child.signalCode === null) {
    const gone = new Promise((resolve) => child?.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }
  rmSync(directory, { recursive: true, force: true });
});

function run(...args: string[]): {
  output: Promise<string>;
  ready: () => Promise<Ready>;
  exit: Promise<number | null>;
} {
  const started = spawn(process.execPath, [
    '--import',
    join(root, 'scripts/typescript.mjs'),
    '--conditions=@kctl/source',
    cli,
    ...args,
  ]);
  child = started;
  let text = '';
  const output = new Promise<string>((resolve) => {
    started.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text);
    });
    started.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    started.once('exit', () => resolve(text));
  });
  return {
    output,
    ready: () => output.then((line) => JSON.parse(line) as Ready),
    exit: new Promise((resolve) => started.once('exit', resolve)),
  };
}

function send(
  { url, token, certificateAuthority }: Ready,
  path: string,
  body?: unknown,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}${path}`,
      {
        method: body === undefined ? 'GET' : 'POST',
        ca: certificateAuthority,
        agent: false,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

describe('kctl-apiserver', () => {
  it('§3.8: prints one line of JSON when ready, writes a kubeconfig, creates the definitions of a directory, ends on SIGTERM', async () => {
    writeFileSync(join(directory, 'widgets.json'), JSON.stringify(widgetCrd));
    // As a folder of kubebuilder has it.
    writeFileSync(join(directory, 'kustomization.yaml'), 'resources: [widgets.json]\nkind: Kustomization\n');
    const kubeconfig = join(directory, 'kubeconfig');
    const { ready, exit } = run('--write-kubeconfig', kubeconfig, '--crd-dir', directory);
    const server = await ready();
    expect(readFileSync(kubeconfig, 'utf8')).toContain(`server: ${server.url}`);
    expect((await send(server, widgets)).status).toBe(200);
    child?.kill('SIGTERM');
    expect(await exit).toBe(0);
  });

  it('§4.4: what was acknowledged is there after kill -9', async () => {
    const first = run('--data-dir', join(directory, 'data'));
    const before = await first.ready();
    for (let i = 0; i < 50; i++) expect((await send(before, configMaps, configMap(`c-${i}`))).status).toBe(201);
    // The list's own revision moves on: the new port of the server is in EndpointSlice default/kubernetes.
    const itemsOf = (text: string): unknown => (JSON.parse(text) as { items: unknown }).items;
    const items = itemsOf((await send(before, configMaps)).text);
    child?.kill('SIGKILL');
    await first.exit;
    const after = await run('--data-dir', join(directory, 'data')).ready();
    expect(itemsOf((await send(after, configMaps)).text)).toEqual(items);
    expect(after.token).toBe(before.token);
  });

  it('names a mistaken argument and a port that is taken, in one line', async () => {
    const wrong = run('--prot', '1');
    expect(await wrong.output).toMatch(/^kctl-apiserver: Unknown option '--prot'.*\n$/);
    expect(await wrong.exit).toBe(2);
    const empty = run('--data-dir', '');
    expect(await empty.output).toBe('kctl-apiserver: --data-dir has an empty value: leave it out, or give one\n');
    const both = run('--rbac', '--authorization-mode', 'AlwaysAllow');
    expect(await both.output).toBe('kctl-apiserver: --rbac and --authorization-mode AlwaysAllow: give one of them\n');
    writeFileSync(join(directory, 'broken.yaml'), 'kind: [CustomResourceDefinition\n');
    const broken = run('--crd-dir', directory);
    expect(await broken.output).toMatch(/^kctl-apiserver: .*broken\.yaml: /);
    const range = run('--port', '70000');
    expect(await range.output).toBe('kctl-apiserver: --port 70000: expected a whole number from 0 to 65535\n');
  });

  it('§4 (e): --capabilities names what is missing', async () => {
    const { exit, output } = run('--capabilities');
    await exit;
    expect((JSON.parse(await output) as { missing: string[] }).missing.join()).toContain('server-side apply');
  });
});
