// The nearest things in Node, on the scenario that they share: a million items through one worker. Neither has keys,
// delays or retries. Usage: node --expose-gc node-peers.ts <p-queue | fastq> <items>
import fastq from 'fastq';
import PQueue from 'p-queue';
import { printSample, timed } from '../harness/measure.js';

const [subject = 'fastq', countText = '1000000'] = process.argv.slice(2);
const count = Number(countText);
const keys = JSON.parse(
  JSON.stringify(Array.from({ length: count }, (_, i) => `namespace-${i % 100}/object-${i}`)),
)            ;

/** A worker that calls back at once makes fastq recurse until the stack overflows, hence the microtask. */
const throughFastq = async ()                  => {
  const queue = fastq                 ((_key, done) => queueMicrotask(() => done(null)), 1);
  queue.pause();
  for (const key of keys) queue.push(key);
  const drained = new Promise      ((resolve) => (queue.drain = resolve));
  queue.resume();
  await drained;
  return count;
};

const throughPQueue = async ()                  => {
  const queue = new PQueue({ concurrency: 1, autoStart: false });
  let bytes = 0;
  for (const key of keys) void queue.add(() => void (bytes += key.length));
  queue.start();
  await queue.onIdle();
  return bytes > 0 ? count : 0;
};

printSample(await timed(subject === 'p-queue' ? throughPQueue : throughFastq));
