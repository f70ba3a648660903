// Load on a server of its own: load.ts <server.json> <scenario> <size> <operations>. Scenarios: watch, create, get, list,
// blocked; watch-protobuf and list-protobuf in the form that Go's clients ask for.
// The CPU time that is told is the server's.
import { Worker } from 'node:worker_threads';
import { Pool } from 'undici';
                                         
import { printSample } from '../harness/measure.js';
                                                    
import { readServerInfo } from '../servers/server-info.js';
import { cpuMsOf } from './processes.js';
                                                  
import { openWatchers } from './watchers.js';
import { configMapData, created, large, pathOf, small, smallCount, watched, watchedCount } from './workload.js';

const [path = '', scenario = 'get', sizeText = '0', operationsText = '0'] = process.argv.slice(2);
const size = Number(sizeText);
const operations = Number(operationsText);
const server = readServerInfo(path);
const pool = new Pool(server.url, { connections: 16, connect: { ca: server.ca } });

const json = 'application/json';
const protobuf = 'application/vnd.kubernetes.protobuf';

/** Sends a request and reads the answer, which is thrown away. */
async function send(method                       , target        , body         , accept = json)                  {
  const headers = {
    authorization: `Bearer ${server.token}`,
    accept,
    'content-type': 'application/json',
  };
  const answer = await pool.request({
    method,
    path: target,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  let bytes = 0;
  for await (const chunk of answer.body) bytes += (chunk          ).length;
  if (answer.statusCode >= 300) throw new Error(`${method} ${target}: ${answer.statusCode}`);
  return bytes;
}

/** So many times, 16 at a time. */
async function repeat(times        , one                                 )                {
  let next = 0;
  const worker = async ()                => {
    while (next < times) await one(next++);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

/** A third of the work to warm up, then all of it with the clocks running. */
async function measure(ops        , work                                     )                  {
  await work(1 / 3);
  const start = { wall: performance.now(), cpu: cpuMsOf(server.pids) };
  await work(1);
  return { ops, wallMs: performance.now() - start.wall, cpuMs: cpuMsOf(server.pids) - start.cpu };
}

/** Updates, each seen by all watchers. */
async function watch(accept        , framing         )                  {
  const path = `${pathOf(watched)}?watch=true&resourceVersion=${await latest()}`;
  const watchers = await openWatchers(server, { path, count: size, accept, framing });
  const sample = await measure(operations * size, async (share) => {
    const updates = Math.ceil(operations * share);
    const received = watchers.received(updates);
    await repeat(updates, (i) => {
      const name = `object-${i % watchedCount}`;
      const data = { sequence: `${process.pid}-${share}-${i}` };
      return send('PUT', pathOf(watched, name), {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: watched, name },
        data,
      });
    });
    await received;
  });
  watchers.close();
  return sample;
}

function list(accept        )                  {
  return measure(operations, async (share) => {
    for (let i = 0; i < operations * share; i++) await send('GET', pathOf(small), undefined, accept);
  });
}

const scenarios                                        = {
  watch: () => watch(json, 'lines'),
  'watch-protobuf': () => watch(`${protobuf};stream=watch`, 'frames'),
  create: () => {
    let pass = 0;
    return measure(operations, (share) => {
      const prefix = `object-${Date.now()}-${process.pid}-${pass++}`;
      return repeat(operations * share, (i) => {
        const metadata = { namespace: created, name: `${prefix}-${i}` };
        return send('POST', pathOf(created), { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: configMapData(i) });
      });
    });
  },
  get: () =>
    measure(operations, (share) =>
      repeat(operations * share, (i) => send('GET', pathOf(small, `object-${i % smallCount}`))),
    ),
  list: () => list(json),
  'list-protobuf': () => list(protobuf),
  /** The longest GET beside a LIST that a thread of its own sends. */
  blocked: async () => {
    const lister = new Worker(new URL('list-thread.ts', import.meta.url), {
      workerData: { server, path: pathOf(large) },
      execArgv: process.execArgv.filter((flag) => flag !== '--expose-gc'),
    });
    const list = ()                  =>
      new Promise((resolve, reject) => {
        lister.once('message', resolve);
        lister.once('error', reject);
        lister.postMessage('list');
      });
    const probe = async (until                   )                  => {
      let longest = 0;
      while (!until.done) {
        const from = performance.now();
        await send('GET', pathOf(small, 'object-0'));
        longest = Math.max(longest, performance.now() - from);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      return longest;
    };
    let pauseMs = 0;
    const sample = await measure(1, async () => {
      const until = { done: false };
      const probing = probe(until);
      await list();
      until.done = true;
      pauseMs = await probing;
    });
    await lister.terminate();
    return { ...sample, pauseMs };
  },
};

/** The server's revision now. */
async function latest()                  {
  const headers = { authorization: `Bearer ${server.token}`, accept: 'application/json' };
  const { body } = await pool.request({ method: 'GET', path: `${pathOf(watched)}?limit=1`, headers });
  const list = (await body.json())                                             ;
  return list.metadata.resourceVersion;
}

const run = scenarios[scenario];
if (run === undefined) throw new Error(`unknown scenario ${scenario}`);
printSample(await run());
await pool.destroy();
