import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Connection } from '@kctl/client-http';
import { startRealApiServer } from '@kctl/kube-apiserver';
import { noopLogger } from '@kctl/telemetry';

export const nodeArguments: readonly string[] = [
  '--import',
  fileURLToPath(new URL('../../../scripts/typescript.mjs', import.meta.url)),
  '--conditions=@kctl/source',
];

/** A server that keeps its data over crashes. */
export interface FaultyServer extends AsyncDisposable {
  readonly port: number;
  readonly connection: Connection & { readonly ca: string; readonly user: { readonly token: string } };
  /** SIGKILL. */
  kill(): Promise<void>;
  /** A new process on the same data; resolves when that is ready. */
  restart(): Promise<void>;
  /** {@link kill} and {@link restart}. */
  crash(): Promise<void>;
}

export async function startServer(kind: 'embedded' | 'real'): Promise<FaultyServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'kctl-election-'));
  const server = await (kind === 'embedded' ? startEmbedded(dataDir) : startReal(dataDir));
  return {
    ...server,
    async crash() {
      await server.kill();
      await server.restart();
    },
    async [Symbol.asyncDispose]() {
      await server.kill();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

type Started = Omit<FaultyServer, 'crash' | typeof Symbol.asyncDispose>;

async function startEmbedded(dataDir: string): Promise<Started> {
  const program = fileURLToPath(new URL('../../../packages/apiserver/src/cli.ts', import.meta.url));
  const token = 'election-harness';
  let child: ChildProcess;
  const start = async (port: number): Promise<{ url: string; certificateAuthority: string }> => {
    const own = ['--data-dir', dataDir, '--port', String(port), '--token', token];
    const started = spawn(process.execPath, [...nodeArguments, program, ...own], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child = started;
    const lines = createInterface({ input: started.stdout });
    const [line] = (await Promise.race([
      once(lines, 'line'),
      once(started, 'exit').then(([code]) => {
        throw new Error(`the embedded server ended with ${String(code)} before it was ready`);
      }),
    ])) as [string];
    return JSON.parse(line) as { url: string; certificateAuthority: string };
  };
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const dead = once(child, 'exit');
    child.kill('SIGKILL');
    await dead;
  };
  const { url, certificateAuthority } = await start(0);
  const port = Number(new URL(url).port);
  return {
    port,
    connection: { server: url, ca: certificateAuthority, user: { token } },
    kill,
    restart: async () => void (await start(port)),
  };
}

async function startReal(dataDir: string): Promise<Started> {
  let server = await startRealApiServer({ dataDir, logger: noopLogger });
  const { port, url, caPem: ca, adminToken: token } = server;
  return {
    port,
    connection: { server: url, ca, user: { token } },
    kill: () => server.kill(),
    restart: async () => void (server = await startRealApiServer({ dataDir, port, logger: noopLogger })),
  };
}
