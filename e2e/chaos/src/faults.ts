import type { Fault, FaultAction, Verb } from '@kctl/apiserver';
import type { Dice } from './dice.js';

/** Where faults may strike. */
export interface FaultScope {
  /** A part of the User-Agent of the program under test. */
  readonly userAgent: string;
}

const writes: readonly Verb[] = ['create', 'update', 'patch', 'delete'];
const reads: readonly Verb[] = ['get', 'list'];
const ordinary: readonly Verb[] = [...reads, ...writes];

interface Choice {
  readonly verb: readonly Verb[];
  readonly action: FaultAction;
}

type Maker = (dice: Dice) => Choice;

/** What befalls a watch, after up to twenty events. */
const watchFaults: readonly (readonly [number, Maker])[] = [
  [3, (dice) => ({ verb: ['watch'], action: { type: 'expireWatch', afterEvents: dice.between(0, 20) } })],
  [2, (dice) => ({ verb: ['watch'], action: { type: 'dropWatch', how: 'end', afterEvents: dice.between(0, 20) } })],
  [3, (dice) => ({ verb: ['watch'], action: { type: 'dropWatch', how: 'destroy', afterEvents: dice.between(0, 20) } })],
  [2, (dice) => ({ verb: ['watch'], action: { type: 'stallWatch', afterEvents: dice.between(0, 20) } })],
  [3, (dice) => ({ verb: ['watch'], action: { type: 'tearEvent', afterEvents: dice.between(0, 20) } })],
  [2, () => ({ verb: ['watch'], action: { type: 'duplicateEvent' } })],
  [1, () => ({ verb: ['watch'], action: { type: 'status', code: 410 } })],
  [1, () => ({ verb: ['watch'], action: { type: 'status', code: 429, retryAfterSeconds: 1 } })],
  [1, () => ({ verb: ['watch'], action: { type: 'status', code: 500 } })],
  [1, () => ({ verb: ['watch'], action: { type: 'rejectConnection' } })],
  [1, (dice) => ({ verb: ['watch'], action: { type: 'delay', ms: dice.between(1, 500) } })],
];

const listFaults: readonly (readonly [number, Maker])[] = [
  [2, (dice) => ({ verb: reads, action: { type: 'truncateBody', bytes: dice.between(0, 4000) } })],
  [2, () => ({ verb: ['list'], action: { type: 'status', code: 410 } })],
  [1, () => ({ verb: reads, action: { type: 'status', code: 503, retryAfterSeconds: 1 } })],
  [1, () => ({ verb: reads, action: { type: 'rejectConnection' } })],
  [1, (dice) => ({ verb: reads, action: { type: 'delay', ms: dice.between(1, 500) } })],
];

const writeFaults: readonly (readonly [number, Maker])[] = [
  [4, (dice) => ({ verb: ordinary, action: { type: 'delay', ms: dice.between(1, 500) } })],
  [1, () => ({ verb: ordinary, action: { type: 'status', code: 429, retryAfterSeconds: 1 } })],
  [1, () => ({ verb: ordinary, action: { type: 'status', code: 503, retryAfterSeconds: 1 } })],
  [3, () => ({ verb: ordinary, action: { type: 'status', code: 500 } })],
  [3, () => ({ verb: ['update', 'patch'], action: { type: 'conflict' } })],
  [8, (dice) => ({ verb: writes, action: { type: 'commitThenFail', code: dice.pick([0, 500, 504]) } })],
  [3, (dice) => ({ verb: writes, action: { type: 'truncateBody', bytes: dice.between(0, 300) } })],
  [3, () => ({ verb: writes, action: { type: 'rejectConnection' } })],
];

/** Which faults are drawn: those of reading, or those of writing, too. */
export type FaultMix = 'reading' | 'all';

/** Draws a fault that strikes the next one to three requests that it fits. */
export function drawFault(dice: Dice, { userAgent }: FaultScope, mix: FaultMix): Fault {
  const family = dice.weighted(
    mix === 'reading'
      ? [
          [4, watchFaults],
          [1, listFaults],
        ]
      : [
          [3, watchFaults],
          [1, listFaults],
          [5, writeFaults],
        ],
  );
  const { verb, action } = dice.weighted(family)(dice);
  return { match: { userAgent, verb }, action, times: dice.between(1, 3) };
}
