import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startApiServerWorker, type ApiServerWorker } from '@kctl/apiserver';
import type { Connection } from '@kctl/client-http';
import { eventually } from '@kctl/testing';
import { startExample } from '@kctl/vitest-config/example';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** What a start meets, and what is seen of it from outside of the process. */
interface Case {
  readonly state: string;
  readonly kind: string;
  readonly connection: () => Connection;
  /** Stays for as long as the process runs, or until the test has seen what it is for. */
  readonly begin?: () => Promise<() => Promise<void>>;
  /** What must be in the output: why it is not ready. */
  readonly log: string;
  readonly becomes: 'ready' | 'exit';
  /** @default 'required' */
  readonly startPolicy?: 'optional';
  /** Whether it may be ready before it can be asked. */
  readonly isQuick?: boolean;
}

interface Row {
  readonly readyz: string;
  readonly healthz: string;
  readonly exitCode: string;
  readonly log: string;
}

const syncTimeoutMs = 6_000;
const rows = new Map<string, Row>();
const missing: Row = { readyz: '', healthz: '', exitCode: '', log: '' };
let server: ApiServerWorker;
let good: Connection;

beforeAll(async () => {
  server = await startApiServerWorker();
  good = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
});

afterAll(async () => {
  await server.stop();
});

const lists = { match: { verb: ['list', 'watch'], resource: 'configmaps' } } as const;
const cases: readonly Case[] = [
  {
    state: 'server unreachable',
    kind: 'ConfigMap',
    connection: () => ({ server: 'https://127.0.0.1:1', user: { token: 'x' } }),
    log: 'ECONNREFUSED',
    becomes: 'exit',
  },
  {
    state: '403 on list',
    kind: 'Secret',
    connection: () => good,
    begin: () =>
      server.faults.add({
        match: { verb: ['list', 'watch'], resource: 'secrets' },
        action: { type: 'status', code: 403, reason: 'Forbidden', message: 'secrets is forbidden' },
      }),
    log: 'secrets is forbidden',
    becomes: 'exit',
  },
  {
    state: 'CRD missing',
    kind: 'Widget',
    connection: () => good,
    log: 'not-found',
    becomes: 'exit',
  },
  {
    state: 'CRD missing, source optional',
    kind: 'Widget',
    connection: () => good,
    log: 'not-found',
    becomes: 'ready',
    startPolicy: 'optional',
    isQuick: true,
  },
  {
    state: 'slow sync',
    kind: 'ConfigMap',
    connection: () => good,
    begin: () => server.faults.add({ ...lists, action: { type: 'delay', ms: 3_000 } }),
    log: 'Starting Controller',
    becomes: 'ready',
  },
  {
    state: 'all well',
    kind: 'Pod',
    connection: () => good,
    log: 'Starting workers',
    becomes: 'ready',
    isQuick: true,
  },
];

// Side by side: most of each is waiting for a time-out, and what one meets is of its own kind or server.
describe('a start', () => {
  it.concurrent.each(cases)('tells the truth from its first second: $state', async (given) => {
    const remove = await given.begin?.();
    const program = startExample(join(import.meta.dirname, 'startup-program.ts'), {
      env: {
        CONNECTION: JSON.stringify(given.connection()),
        KIND: given.kind,
        SYNC_TIMEOUT_MS: String(syncTimeoutMs),
        START_POLICY: given.startPolicy ?? 'required',
      },
    });
    await program.waitFor('health probe');
    const port = /"port":(\d+)/.exec(program.output)?.[1] ?? '';
    const probe = async (path: string): Promise<[number, string]> => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return [response.status, await response.text()];
    };
    const [first, body] = await probe('/readyz');
    const [alive] = await probe('/healthz');
    const failing = [...body.matchAll(/\[-\](\S+) failed/g)].map(([, name]) => name).join(', ');
    let readyz = '200';
    if (given.isQuick !== true) {
      expect([first, failing]).toEqual([500, 'caches, informers']);
      readyz = `500 (${failing})`;
    }
    let exitCode = 'none';
    if (given.becomes === 'exit') {
      expect(await program.exited).toBe(1);
      expect(program.output).toContain(`caches to sync kind source: ${given.kind}`);
      exitCode = '1, after `cacheSyncTimeoutMs`';
    } else {
      await program.waitFor(given.log);
      await eventually(async () => expect((await probe('/readyz'))[0]).toBe(200), { timeoutMs: 20_000 });
      if (given.isQuick !== true) readyz += ', then 200';
      expect(await program.stop()).toBe(0);
    }
    await remove?.();
    expect(alive).toBe(200);
    expect(program.output).toContain(given.log);
    rows.set(given.state, { readyz, healthz: String(alive), exitCode, log: logOf(program.output) });
  });
});

describe('what a start meets', () => {
  it('is described in the README of @kctl/manager as it was seen', async () => {
    const table = [
      '| at the start | `/readyz` | `/healthz` | exit code | log |',
      '|---|---|---|---|---|',
      ...cases.map(({ state }) => {
        const { readyz, healthz, exitCode, log } = rows.get(state) ?? missing;
        return `| ${[state, readyz, healthz, exitCode, log].join(' | ')} |`;
      }),
    ].join('\n');
    const readme = await readFile(join(import.meta.dirname, '../../manager/README.md'), 'utf8');
    expect(readme.includes(table), `expected in the README:\n${table}`).toBe(true);
  });
});

/** What the log says of the informer: its warning, or that workers have begun. */
function logOf(output: string): string {
  const reason = /"msg":"informer is retrying".*?"reason":"([^"]+)"/.exec(output)?.[1];
  if (reason !== undefined) return `warning \`informer is retrying\`, reason \`${reason}\``;
  return output.includes('Starting workers') ? '`Starting workers`' : 'nothing';
}
