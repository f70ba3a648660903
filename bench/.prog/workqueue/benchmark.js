import { bytesPerKey, compare, pause } from '../harness/benchmark.js';
                                                                      
import { goSubject, nodeSubject } from '../harness/subjects.js';

const million = '1000000';
const ours = (scenario        , consumer = 'run')              => ({
  subject: '@kctl/workqueue',
  args: [consumer, scenario, million],
});
const clientGo = (scenario        )              => ({ subject: 'client-go', args: [scenario, million] });
const controllerRuntime = (scenario        )              => ({
  subject: 'controller-runtime',
  args: [scenario, million],
});
const node = (subject        )              => ({ subject, args: [million] });

/** A million operations each, one consumer: a pool of one worker, or what is named in the figure. */
export const benchmark            = {
  subjects: [
    nodeSubject('@kctl/workqueue', 'workqueue/kctl.ts', [], '@kctl/workqueue'),
    goSubject('client-go', 'workqueue', ['client-go'], ['k8s.io/client-go']),
    goSubject('controller-runtime', 'workqueue', ['controller-runtime'], ['sigs.k8s.io/controller-runtime']),
    nodeSubject('p-queue', 'workqueue/node-peers.ts', ['p-queue'], 'p-queue'),
    nodeSubject('fastq', 'workqueue/node-peers.ts', ['fastq'], 'fastq'),
  ],
  figures: [
    ...compare('add+get+done, distinct keys', ours('distinct'), clientGo('distinct'), 1),
    ...compare('add+get+done, 90 % duplicates in the same order', ours('duplicates'), clientGo('duplicates'), 1),
    ...compare(
      'add+get+done, 90 % duplicates in random order',
      ours('duplicates-shuffled'),
      clientGo('duplicates-shuffled'),
      1,
    ),
    ...compare('add+get+done, 1M keys delayed meanwhile', ours('delayed-pending'), clientGo('delayed-pending'), 1),
    ...compare('addAfter, 1M distinct keys', ours('delayed-add'), clientGo('delayed-add'), 1),
    ...compare('get+done, 1M delayed keys due together', ours('delayed-due'), clientGo('delayed-due'), 1),
    ...compare('add+get+done, 5 priorities', ours('priorities'), controllerRuntime('priorities'), 1),
    ...compare('add+get+done, 1,000 keys again and again', ours('cycling'), clientGo('cycling'), 1),
    ...compare('distinct keys by tryGet', ours('distinct', 'tryGet'), clientGo('distinct'), null),
    ...compare('distinct keys by await get', ours('distinct', 'get'), clientGo('distinct'), null),
    ...compare('distinct items, no deduplication there', ours('distinct'), node('fastq'), null),
    ...compare('distinct items, no deduplication there', ours('distinct'), node('p-queue'), null),
    {
      figure: 'memory per pending key',
      ours: ours('memory'),
      peer: clientGo('memory'),
      reading: bytesPerKey,
      reach: 1,
      aim: null,
    },
    {
      figure: 'memory per delayed key',
      ours: ours('memory-delayed'),
      peer: clientGo('memory-delayed'),
      reading: bytesPerKey,
      reach: 1,
      aim: null,
    },
    {
      figure: 'memory per pending key, priority queue',
      ours: ours('memory-priority'),
      peer: controllerRuntime('memory'),
      reading: bytesPerKey,
      reach: 1,
      aim: null,
    },
    {
      figure: 'longest pause, 1M delayed keys due together',
      ours: ours('delayed-due'),
      limit: 20,
      reading: pause,
      reach: 1,
      aim: null,
    },
  ],
};
