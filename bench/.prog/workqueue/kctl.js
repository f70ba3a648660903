// Runs one scenario of the workqueue benchmark on @kctl/workqueue and prints the sample as one line of JSON.
// Usage: node --expose-gc kctl.ts <consumer> <scenario> <keys>
import { createDelayingQueue, createPriorityQueue } from '@kctl/workqueue';
                                                     
import { heapBytes, longestPause, printSample, timed } from '../harness/measure.js';
                                                    

const [consumer = 'run', scenario = 'distinct', countText = '1000000'] = process.argv.slice(2);
const count = Number(countText);
const hourMs = 3_600_000;

/** Keys as a program gets them: strings from parsed JSON. */
const makeKeys = (howMany        , prefix        )           =>
  JSON.parse(JSON.stringify(Array.from({ length: howMany }, (_, i) => `${prefix}-${i % 100}/object-${i}`)))            ;

/** Takes and finishes everything that is ready. */
const drain = async (queue                       , howMany        )                => {
  if (consumer === 'tryGet') {
    for (let key = queue.tryGet(); key !== undefined; key = queue.tryGet()) queue.done(key);
    return;
  }
  if (consumer === 'get') {
    for (let left = howMany; left > 0; left--) {
      const key = await queue.get();
      if (key !== undefined) queue.done(key);
    }
    return;
  }
  let left = howMany;
  const finished = Promise.withResolvers           ();
  const pool = queue.run({}, () => {
    if (--left === 0) finished.resolve(undefined);
  });
  await finished.promise;
  await pool.stop();
};

/** Each number below `distinct` as often as the others, in an order that the Go program draws alike. */
const shuffled = (distinct        )             => {
  const order = Int32Array.from({ length: count }, (_, i) => i % distinct);
  let state = 1;
  for (let i = count - 1; i > 0; i--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (i + 1));
    [order[i], order[other]] = [order[other] ?? 0, order[i] ?? 0];
  }
  return order;
};

const later = (queue                       , keys                   )       => {
  for (const [i, key] of keys.entries()) queue.addAfter(key, hourMs + ((i * 7919) % keys.length));
};

const scenarios                                        = {
  distinct: () => {
    const keys = makeKeys(count, 'namespace');
    return timed(async () => {
      const queue = createDelayingQueue();
      for (const key of keys) queue.add(key);
      await drain(queue, count);
      return count;
    });
  },
  duplicates: () => {
    const keys = makeKeys(count / 10, 'namespace');
    return timed(async () => {
      const queue = createDelayingQueue();
      for (let i = 0; i < count; i++) queue.add(keys[i % keys.length] ?? '');
      await drain(queue, keys.length);
      return count;
    });
  },
  'duplicates-shuffled': () => {
    const keys = makeKeys(count / 10, 'namespace');
    const order = shuffled(keys.length);
    return timed(async () => {
      const queue = createDelayingQueue();
      for (const index of order) queue.add(keys[index] ?? '');
      await drain(queue, keys.length);
      return count;
    });
  },
  cycling: () => {
    const keys = makeKeys(1000, 'namespace');
    return timed(async () => {
      const queue = createDelayingQueue();
      for (let round = 0; round < count / 1000; round++) {
        for (const key of keys) queue.add(key);
        await drain(queue, keys.length);
      }
      return count;
    });
  },
  'delayed-pending': () => {
    const keys = makeKeys(count, 'namespace');
    const laterKeys = makeKeys(count, 'later');
    let queue = createDelayingQueue();
    const prepare = ()       => {
      queue = createDelayingQueue({ keepAlive: false });
      later(queue, laterKeys);
    };
    return timed(async () => {
      for (const key of keys) queue.add(key);
      await drain(queue, count);
      return count;
    }, prepare);
  },
  'delayed-add': () => {
    const keys = makeKeys(count, 'namespace');
    return timed(() => {
      later(createDelayingQueue({ keepAlive: false }), keys);
      return Promise.resolve(count);
    });
  },
  'delayed-due': async () => {
    const keys = makeKeys(count, 'namespace');
    const queue = createDelayingQueue();
    const due = performance.now() + 6000;
    for (const key of keys) queue.addAfter(key, due - performance.now());
    if (performance.now() > due) throw new Error('the adds took longer than the delay');
    globalThis.gc?.();
    const pause = longestPause();
    await new Promise((resolve) => setTimeout(resolve, due - performance.now() - 50));
    pause.reset();
    const cpu = process.cpuUsage();
    await drain(queue, count);
    const wallMs = performance.now() - due;
    const used = process.cpuUsage(cpu);
    return { ops: count, wallMs, cpuMs: (used.user + used.system) / 1000, pauseMs: pause.stop() };
  },
  priorities: () => {
    const keys = makeKeys(count, 'namespace');
    const options = [-100, 0, 10, 20, 30].map((priority) => ({ priority }));
    return timed(async () => {
      const queue = createPriorityQueue();
      for (const [i, key] of keys.entries()) queue.addWith(options[i % 5] ?? {}, key);
      await drain(queue, count);
      return count;
    });
  },
  memory: () => Promise.resolve(perKey((queue, keys) => keys.forEach((key) => queue.add(key)))),
  'memory-delayed': () => Promise.resolve(perKey(later)),
  'memory-priority': () =>
    Promise.resolve(perKey((queue, keys) => keys.forEach((key) => queue.add(key)), createPriorityQueue())),
};

function perKey(
  fill                                                                 ,
  queue                        = createDelayingQueue({ keepAlive: false }),
)         {
  const keys = makeKeys(count, 'namespace');
  const before = heapBytes();
  fill(queue, keys);
  const bytesPerKey = (heapBytes() - before) / count;
  if (queue.length + queue.delayed !== keys.length) throw new Error('keys are missing');
  return { ops: count, wallMs: 0, cpuMs: 0, bytesPerKey };
}

const run = scenarios[scenario];
if (run === undefined) throw new Error(`unknown scenario ${scenario}`);
printSample(await run());
