// Sources of randomness.
import { StatusError } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import * as client from '@kctl/client';
import { createEventBroadcaster } from '@kctl/events';
import * as informer from '@kctl/informer';
import * as election from '@kctl/leader-election';
import * as wait from '@kctl/wait';
import { object } from '../parts.js';
import { failing, goodClient, key, nothing, reconcile, runnable, settle } from './kit.js';
import type { Scenario, Stage } from './play.js';

type Random = () => number;
const part = { random: () => 0.5 };
const named = /random (?:returned .*: expected a number|threw)|foreign/;
const conflict = new StatusError({ message: 'expected by the scenario', code: 409, reason: 'Conflict' });

function scenario(name: string, play: (stage: Stage, random: Random) => Promise<void>): Scenario {
  const own = async (stage: Stage, { random }: { readonly random: Random }): Promise<void> => await play(stage, random);
  return { name: `the random function of ${name}`, part, named, fine: /^undefined that it throws$/, play: own };
}

export const randoms: readonly Scenario[] = [
  scenario('back-offs', async ({ attempt, clock }, random) => {
    await attempt(() => wait.createBackoff({ initialMs: 1, jitter: 1, random, clock }).next());
    await attempt(() => wait.createItemBackoff({ initialMs: 1, maxMs: 9, jitter: 1, random, clock }).next('a'));
  }),
  scenario('work that is repeated', async ({ attempt, clock, signal, end }, random) => {
    const running = wait.until(nothing, 10, { jitter: 1, random, clock, signal });
    running.catch(nothing);
    await settle();
    end();
    await attempt(() => running);
  }),
  scenario('a repeated write', async ({ attempt, clock }, random) => {
    const running = client.retryOnConflict(async () => await Promise.reject(conflict), { random, clock });
    running.catch(nothing);
    for (let turn = 0; turn < 6; turn++) await clock.advance(1_000);
    await attempt(() => running);
  }),
  scenario('an informer', async (stage, random) => {
    const { clock, logger } = stage;
    const listerWatcher = { list: failing, watch: failing, supportsWatchList: false };
    const own = informer.createSharedInformer({ kind: ConfigMap, listerWatcher, clock, logger, random });
    await runnable(own, stage, (signal) => own.run(signal));
  }),
  scenario('a reflector', async (stage, random) => {
    const { clock, logger } = stage;
    const listerWatcher = { list: failing, watch: failing, supportsWatchList: false };
    const store = { add: nothing, update: nothing, delete: nothing, replace: nothing, resync: nothing };
    const own = informer.createReflector({ kind: ConfigMap, listerWatcher, store, clock, logger, random });
    await runnable(own, stage, (signal) => own.run(signal));
  }),
  scenario('an elector', async (stage, random) => {
    const { clock, logger } = stage;
    const lock = election.createLeaseLock({ client: goodClient as never, ...key, identity: 'me' });
    const callbacks = { onStartedLeading: nothing };
    const own = election.createLeaderElector({ lock, clock, logger, callbacks, random });
    await runnable(own, stage, (signal) => own.run(signal));
  }),
  scenario('a controller', async (stage, random) => {
    await reconcile(stage, { random, safetyInterval: { everyMs: 1_000 } });
  }),
  scenario('a broadcaster', async (stage, random) => {
    const { clock, logger } = stage;
    const own = { create: failing, patch: failing };
    const broadcaster = createEventBroadcaster({ client: own as never, clock, logger, random });
    broadcaster.recorder('me').event(object, { type: 'Normal', reason: 'A', note: 'a' });
    await runnable(broadcaster, stage, (signal) => broadcaster.run(signal));
  }),
];
