import type { ReconcileContext, ReconcileObserver, SettledRun, SourceEnqueueOptions } from '@kctl/controller';
import type { RequestTally } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { Cycle } from './cycle.js';
import { describeFailure } from './describe-failure.js';
import type { HiddenNames } from './hidden-names.js';
import { ownName, ownText } from './own-text.js';
import type { CycleStore } from './store.js';

/** Options of {@link Recorder}. */
export interface RecorderOptions {
  readonly store: CycleStore;
  readonly names: HiddenNames;
  readonly clock: Clock;
  readonly recordErrorMessages: boolean;
  /** Reports whether the requests of a controller are Secrets; undefined if its definition does not contain that. */
  readonly reconcilesSecrets: (controller: string) => boolean | undefined;
}

/** Longer keys are cut, with a mark that keeps them apart. */
const maxKey = 512;
/** Reasons defined by the controller; others come from sources and may repeat contents of objects. */
const ownReasons: ReadonlySet<string> = new Set(['retry', 'requeue', 'back-off', 'safety interval', 'stopped']);
/** The controller's reason for an event, such as `kind source: Pod update shop/web`. */
const eventReason = /^(.{1,200}) (create|update|delete|generic) (.*)$/;
/** Controllers that are remembered apart from what is recorded. */
const maxControllers = 1000;

/** Observer of a manager that records the actions of controllers in the store. */
export class Recorder implements ReconcileObserver {
  readonly #options: RecorderOptions;
  /** Whether the keys of a controller are names of Secrets; undefined until an event shows it. */
  readonly #isSecretive = new Map<string, boolean | undefined>();
  /** Runs that go on, also of keys that are forgotten meanwhile. As many as there are workers. */
  readonly #active = new Set<Cycle>();

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** The runs that go on. */
  get active(): ReadonlySet<Cycle> {
    return this.#active;
  }

  queued(controller: string, key: string, { cause, reason, afterMs }: SourceEnqueueOptions): void {
    const { store, names, clock } = this.#options;
    const isSecret = cause !== undefined && names.isSecretSource(cause.source);
    if (isSecret && cause.name === key) this.#hideKeysOf(controller);
    const shown = this.#shownKey(controller, key);
    const now = clock.now();
    const atMs = now - store.origin.at;
    const cycle = store.pendingOf(controller, shown, atMs);
    const { timeline } = cycle;
    if (afterMs !== undefined && afterMs > 0) timeline.dueAt ??= now + afterMs;
    else timeline.dueAt = undefined;
    if (cause === undefined) {
      if (reason !== undefined) store.setReasons(cycle, [ownReasons.has(reason) ? reason : 'other']);
      return;
    }
    const { source, type, name = '' } = cause;
    // A Secret may have the name of its owner, which is shown.
    const object = isSecret ? names.hide(name) : name === key ? shown : ownName(name);
    const resourceVersion = ownName(cause.header?.resourceVersion ?? '');
    store.addEvent(cycle, { atMs, source, type, object, resourceVersion });
  }

  started(controller: string, key: string, context: ReconcileContext): RequestTally {
    const { attempt, reasons } = context;
    const { clock, store } = this.#options;
    const shown = this.#shownKey(controller, key);
    const atMs = clock.now() - store.origin.at;
    const cycle = store.pendingOf(controller, shown, atMs);
    const { timeline } = cycle;
    timeline.pending = undefined;
    timeline.active = cycle;
    timeline.dueAt = undefined;
    timeline.runs++;
    cycle.start(atMs, clock.monotonicNow());
    cycle.attempt = attempt;
    cycle.context = context;
    if (reasons.length > 0) this.#addReasons(cycle, reasons, atMs);
    this.#active.add(cycle);
    return cycle;
  }

  settled(tally: RequestTally, { result, error, nextMs, isLooping }: SettledRun): void {
    if (!(tally instanceof Cycle) || !this.#active.delete(tally)) return;
    const { store, clock, recordErrorMessages: withMessages } = this.#options;
    const now = clock.now();
    const ms = clock.monotonicNow() - tally.startedMonotonic;
    const hasFailed = result === 'error' || result === 'terminal';
    const failure = hasFailed ? describeFailure(error, { withMessages }) : undefined;
    // The lines of a failure have the id; that of others is made for it alone.
    const reconcileId = hasFailed ? tally.context?.reconcileId : undefined;
    tally.context = undefined;
    const { timeline } = tally;
    if (timeline.active === tally) timeline.active = undefined;
    timeline.lastResult = result;
    timeline.lastMs = ms;
    timeline.lastAt = now;
    timeline.lastFailure = failure;
    timeline.dueAt = nextMs === undefined || timeline.pending !== undefined ? undefined : now + nextMs;
    if (hasFailed) timeline.failures++;
    if (hasFailed || result === 'requeue') {
      timeline.failuresInRow++;
      timeline.failingSince ??= now;
    } else if (result !== 'stopped') {
      timeline.failuresInRow = 0;
      timeline.failingSince = undefined;
    }
    if (isLooping) timeline.loopingAt = now;
    store.setEnd(tally, { ms, result, failure, nextMs, reconcileId, isLooping });
  }

  ended(controller: string): void {
    this.#options.store.endQueue(controller);
  }

  /** Reasons besides the recorded events; also the events of a run, if they were forgotten while it waited. */
  #addReasons(cycle: Cycle, reasons: readonly string[], atMs: number): void {
    const { store, names } = this.#options;
    const own = new Set<string>();
    for (const reason of reasons) {
      if (ownReasons.has(reason)) own.add(reason);
      else if (cycle.eventCount === 0) {
        const [, source, type, name = ''] = eventReason.exec(reason) ?? [];
        if (source === undefined || type === undefined) own.add('other');
        else {
          const object = names.isSecretSource(source) ? names.hide(name) : ownName(name);
          store.addEvent(cycle, { atMs, source, type, object, resourceVersion: '' });
        }
      }
    }
    if (own.size > 0) store.setReasons(cycle, [...own]);
  }

  #reconcilesSecrets(controller: string): boolean | undefined {
    if (this.#isSecretive.has(controller)) return this.#isSecretive.get(controller);
    const isSecretive = this.#options.reconcilesSecrets(controller);
    if (this.#isSecretive.size < maxControllers) this.#isSecretive.set(controller, isSecretive);
    return isSecretive;
  }

  #shownKey(controller: string, key: string): string {
    const { names } = this.#options;
    const isSecretive = this.#reconcilesSecrets(controller);
    if (isSecretive === true) return names.hide(key);
    return key.length <= maxKey ? key : ownText(`${key.slice(0, maxKey)}${names.hide(key).slice(-9)}`, maxKey + 9);
  }

  /**
   * An event shows that the requests of a controller are Secrets, so everything recorded under their names is removed. The
   * definition has precedence, because an owned Secret often has the name of its owner.
   */
  #hideKeysOf(controller: string): void {
    if (this.#reconcilesSecrets(controller) !== undefined) return;
    this.#isSecretive.set(controller, true);
    this.#options.store.remove(controller);
  }
}
