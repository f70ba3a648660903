// Whether a function refuses a misspelled option, tried with arguments that fit most functions.
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Pod } from '@kctl/apimachinery/kinds/core/v1';
import * as controller from '@kctl/controller';
import { systemClock } from '@kctl/wait';
import type { Entrance } from './entrances.js';
import { fake, key, object, own, ownCache, real, shared, transport } from './parts.js';

const fitting: readonly unknown[] = [
  ...[Deployment, ['a'], { on: ['create'] }, { validateCreate: () => undefined }, { namespace: 'a', name: 'b' }],
  controller.channelSource({
    name: 'c',
    events: controller.createEventChannel<typeof object>(),
    handler: controller.enqueueRequestForObject(),
  }),
  ...[fake, ConfigMap, object, key, 'a', 'a:b', () => undefined, async () => await Promise.resolve(1), [object], real],
  ...[
    Pod,
    'v1',
    1,
    ownCache,
    shared,
    transport,
    own,
    { metadata: { annotations: {} } },
    new Map(),
    systemClock,
    [],
    'http:1',
  ],
  ...[{ server: 'https://127.0.0.1:1' }, new AbortController().signal],
];

const misspelled = 'z'.repeat(60);
const noResult = Symbol('no result');

/** Turns of the event loop in which each call that refuses has refused: options are read before anything is awaited. */
async function someTurns(): Promise<typeof noResult> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  return noResult;
}

/** What a call fails with at once, in its first step as a generator, or as a promise. */
async function refusal(call: () => unknown): Promise<string> {
  try {
    const result = await Promise.race([call(), someTurns()]);
    if (typeof result === 'object' && result !== null && Symbol.asyncIterator in result)
      await Promise.race([(result as AsyncIterable<unknown>)[Symbol.asyncIterator]().next(), someTurns()]);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function* argumentLists(count: number): Generator<unknown[]> {
  if (count === 0) yield [];
  else for (const each of fitting) for (const rest of argumentLists(count - 1)) yield [...rest, each];
}

export async function refuses(
  target: object,
  { name, position }: Pick<Entrance, 'name' | 'position'>,
): Promise<boolean> {
  const call: unknown = Reflect.get(target, name);
  if (typeof call !== 'function') return false;
  for (const args of argumentLists(position)) {
    const message = await refusal(
      (): unknown => Reflect.apply(call, target, [...args, { [misspelled]: 1 }]) as unknown,
    );
    if (message.includes(`unknown option "${misspelled}"`)) return true;
  }
  return false;
}
