import {
  describeDelayingQueue,
  describePriorityQueue,
  describeRateLimitingQueue,
  describeWorkQueue,
} from '../src/conformance/index.js';
import { createDelayingQueue, createPriorityQueue, createRateLimitingQueue, createWorkQueue } from '../src/index.js';
import { createObjectQueue } from './object-queue.js';

const priorityTraits = { afterShutDown: 'abandon', drainWithoutWorkers: 'waits' } as const;

describeWorkQueue('createWorkQueue', createWorkQueue<string>);

describeWorkQueue('createDelayingQueue', createDelayingQueue<string>);
describeDelayingQueue('createDelayingQueue', createDelayingQueue<string>);

describeWorkQueue('createRateLimitingQueue', createRateLimitingQueue<string>);
describeDelayingQueue('createRateLimitingQueue', createRateLimitingQueue<string>);
describeRateLimitingQueue('createRateLimitingQueue', createRateLimitingQueue<string>);

describeWorkQueue('createPriorityQueue', createPriorityQueue<string>, priorityTraits);
describeDelayingQueue('createPriorityQueue', createPriorityQueue<string>);
describeRateLimitingQueue('createPriorityQueue', createPriorityQueue<string>);
describePriorityQueue('createPriorityQueue', createPriorityQueue<string>);

describeWorkQueue(
  'createPriorityQueue with ageing',
  (setup) => createPriorityQueue({ ...setup, ageing: { stepMs: 1e9 } }),
  priorityTraits,
);
describePriorityQueue('createPriorityQueue with ageing', (setup) =>
  createPriorityQueue({ ...setup, ageing: { stepMs: 1e9 } }),
);

describeWorkQueue('a queue of objects behind one of strings', createObjectQueue, priorityTraits);
describeDelayingQueue('a queue of objects behind one of strings', createObjectQueue);
describeRateLimitingQueue('a queue of objects behind one of strings', createObjectQueue);
describePriorityQueue('a queue of objects behind one of strings', createObjectQueue);
