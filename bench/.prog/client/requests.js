// What both clients in Node are asked to do, and how it is measured.
import { cpuMs, longestTurn } from '../informer/usage.js';
import { printSample } from '../harness/measure.js';

/** A client by the operations of the benchmark. */
                             
                                       
                                                   
                                                  
                                                                       
 

export const podKey = { namespace: 'team-000', name: 'pod-0' };

/** A small pod to create. */
export function newPod(i        )   
                                                                                
                                                                                                  
  {
  return {
    metadata: { name: `created-${i}`, namespace: podKey.namespace, labels: { app: 'bench', number: String(i) } },
    spec: {
      containers: [
        { name: 'main', image: 'registry.example.com/bench:1', env: [{ name: 'LOG_LEVEL', value: 'info' }] },
      ],
    },
  };
}

export function patchOf(i        )         {
  return { metadata: { labels: { number: String(i) } } };
}

/** Measures what the arguments say: <scenario> <count> <concurrency>. */
export async function measureRequests(operations            , args                   )                {
  const [scenario = 'get', countText = '1000', concurrencyText = '16'] = args;
  const count = Number(countText);
  if (scenario === 'list') {
    await operations.get(); // the connection is there already, as in a running program
    const pause = longestTurn();
    const start = { wall: performance.now(), cpu: cpuMs() };
    const { items } = await operations.list();
    const wallMs = performance.now() - start.wall;
    const used = cpuMs() - start.cpu;
    if (items.length !== count) throw new Error(`${items.length} items, expected ${count}`);
    printSample({ ops: 1, wallMs, cpuMs: used, pauseMs: pause() });
    return;
  }
  if (scenario !== 'get' && scenario !== 'create' && scenario !== 'patch')
    throw new Error(`unknown scenario ${scenario}`);
  const one = operations[scenario];
  const pass = async (howMany        )                => {
    let next = 0;
    const worker = async ()                => {
      while (next < howMany) await one(next++);
    };
    await Promise.all(Array.from({ length: Number(concurrencyText) }, worker));
  };
  await pass(count / 2);
  const start = { wall: performance.now(), cpu: cpuMs() };
  await pass(count);
  printSample({ ops: count, wallMs: performance.now() - start.wall, cpuMs: cpuMs() - start.cpu });
}
