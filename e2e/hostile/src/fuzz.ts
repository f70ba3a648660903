/** `node … e2e/hostile/src/fuzz.ts [--seconds N] [--seed S] [--write]`: see README.md. */
import { writeFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createApiServer } from '@kctl/apiserver';
import { fuzzBytes, fuzzRequest } from './fuzz-input.js';
import { chooser, type Chooser } from './random.js';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
});

/** A request that is not answered within this time is a hang. Watches end after a second. */
const hangMs = 20_000;
const socketMs = 200;
const handlers = 4;
const seconds = Number(values.seconds);
const seed = Number(values.seed);
const server = createApiServer({ journalEntries: 0, historyEvents: 2000, requestTimeoutMs: 10_000 });
await server.start();
const clean = server.snapshot();
const end = performance.now() + seconds * 1000;
const internal = new Map<string, number>();
let requests = 0;
let sockets = 0;
let crashes = 0;
let hangs = 0;

process.on('uncaughtException', (error) => {
  crashes += 1;
  console.log(`crash: ${error.stack ?? error.message}`);
});
process.on('unhandledRejection', (error) => {
  crashes += 1;
  console.log(`unhandled rejection: ${error instanceof Error ? error.stack : String(error)}`);
});

async function askHandlers(random: Chooser): Promise<void> {
  while (performance.now() < end) {
    const { method, target, headers, body } = fuzzRequest(random);
    requests += 1;
    try {
      const response = await server.fetch(target, {
        method,
        headers,
        ...(body !== undefined && method !== 'GET' && method !== 'HEAD' && { body: new Uint8Array(body) }),
        signal: AbortSignal.timeout(hangMs),
      });
      const text = await response.text();
      const problem = response.status === 500 && text.includes('Internal error occurred') ? text : undefined;
      if (problem !== undefined) {
        const message = (/"message":"((?:[^"\\]|\\.)*)"/.exec(problem)?.[1] ?? problem).slice(0, 120);
        if (!internal.has(message))
          console.log(
            `500: ${message}\n  ${method} ${target} ${JSON.stringify(headers)} ${body?.toString().slice(0, 300) ?? ''}`,
          );
        internal.set(message, (internal.get(message) ?? 0) + 1);
      }
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') {
        hangs += 1;
        console.log(`hang: ${method} ${target} ${JSON.stringify(headers)} ${body?.toString().slice(0, 300) ?? ''}`);
      }
    }
  }
}

async function askSockets(random: Chooser): Promise<void> {
  const { port } = new URL(server.url);
  while (performance.now() < end) {
    sockets += 1;
    await new Promise<void>((resolve) => {
      const socket = connect({ port: Number(port), host: '127.0.0.1', ca: server.certificateAuthority });
      const timer = setTimeout(() => socket.destroy(), socketMs);
      socket.on('error', () => undefined);
      socket.on('data', () => undefined);
      socket.on('close', () => {
        clearTimeout(timer);
        resolve();
      });
      socket.on('secureConnect', () => {
        socket.write(fuzzBytes(random, server.token));
        if (random.chance(0.3)) socket.end();
      });
    });
  }
}

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

/** Memory after a collection, MB. */
function memoryMb(): number {
  if (typeof collect === 'function') collect();
  return Math.round(process.memoryUsage().heapUsed / 1_048_576);
}

async function watchHealth(): Promise<number[]> {
  const memory: number[] = [];
  for (let next = performance.now(); performance.now() < end; next += (seconds * 1000) / 10) {
    while (performance.now() < Math.min(next, end)) await new Promise((resolve) => setTimeout(resolve, 200));
    // The same state again and again, so that what grows is a leak.
    server.restore(clean);
    server.compact();
    const health = await server.fetch('/healthz');
    if (health.status !== 200) hangs += 1;
    memory.push(memoryMb());
    console.log(`${requests} requests, ${sockets} sockets, heap ${memory.at(-1) ?? 0} MB`);
  }
  return memory;
}

const random = chooser(seed);
const workers = Array.from({ length: handlers }, () => askHandlers(chooser(random.below(2 ** 31))));
const [memory] = await Promise.all([watchHealth(), askSockets(chooser(random.below(2 ** 31))), ...workers]);
await server.stop();
const count = [...internal.values()].reduce((sum, each) => sum + each, 0);
const report = {
  seconds,
  seed,
  requests,
  sockets,
  crashes,
  hangs,
  internalErrors: Object.fromEntries(internal),
  heapMb: memory,
};
if (values.write)
  writeFileSync(new URL('../results/fuzz.json', import.meta.url), `${JSON.stringify(report, undefined, 2)}\n`);
console.log(`${requests} requests, ${sockets} sockets, ${crashes} crashes, ${hangs} hangs, ${count} internal errors`);
process.exit(crashes + hangs + count === 0 ? 0 : 1);
