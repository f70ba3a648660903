import { FrameError } from '@kctl/apimachinery/internal/wire';
import { messageOf } from '@kctl/telemetry/internal';
import type { Clock, Random } from '@kctl/wait';
import { sleep } from '@kctl/wait';
import { InitialEventsError, ShortWatchError } from '../errors.js';
import type { Failure } from './failure.js';
import { classifyFailure, failureOfStatus } from './failure.js';
import type { BatchSource } from './frame-source.js';
import { GuardedReader } from './guarded-reader.js';
import type { InformerState } from '../informer-state.js';
import type { ReflectorIntake, StoreRefusal } from './reflector-intake.js';
import type { WatchErrorHandler } from './watch-error-decision.js';
import type { ReflectorConfig } from './reflector-config.js';
import { initialReflectorState, transition } from './reflector-machine.js';
import type { ReflectorMetrics } from './reflector-metrics.js';
import type { ReflectorEffect, ReflectorInput, ReflectorState } from './reflector-state.js';
import type { Slicer } from '@kctl/wait/internal';

/** Options of {@link Reflector}. */
export interface ReflectorOptions<Raw> {
  readonly source: BatchSource<Raw>;
  readonly intake: ReflectorIntake<Raw>;
  readonly config: ReflectorConfig;
  readonly slicer: Slicer;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: ReflectorMetrics;
  readonly watchErrorHandler: WatchErrorHandler;
  readonly onStateChange: () => void;
  /**
   * Whether the objects will be reported as deleted one by one. A replacement is then delivered to its end even if the
   * run is over.
   */
  readonly isLeaving: () => boolean;
  readonly bookmarks: boolean;
  readonly minWatchTimeoutMs: number;
  readonly idleTimeoutMs: number | undefined;
  /** Silence that a list or the start of a stream may have. */
  readonly listIdleMs: number;
  readonly name: string;
}

const watchGraceMs = 5000;
/** How often the silence that a stream may have its initial events may take without a new object among them. */
const initialPatience = 5;
/** Servers that send bookmarks do so about once a minute. */
const bookmarkedIdleMs = 180_000;

/**
 * State of a server's bookmarks. With `expected`, it has ended initial events with one. Such a server also sends them
 * from time to time, but not necessarily for kinds that it reads from etcd without a cache, such as events. With
 * `absent`, none came in time, although it was expected.
 */
type Bookmarks = 'unseen' | 'expected' | 'seen' | 'absent';

/**
 * Performs the commands of the reflector's transitions one after the other. All decisions are made by the transitions.
 */
export class Reflector<Raw> {
  readonly #options: ReflectorOptions<Raw>;
  #state: ReflectorState = initialReflectorState;
  #since = 0;
  #nextAttemptAt = 0;
  #watch: OpenWatch<Raw> | undefined;
  #bookmarks: Bookmarks = 'unseen';
  #recent: Failure | undefined;

  constructor(options: ReflectorOptions<Raw>) {
    this.#options = options;
  }

  /** The version that a reopened watch starts from. */
  get resourceVersion(): string {
    return this.#options.intake.resourceVersion;
  }

  get state(): InformerState {
    return describeState(this.#state, {
      since: this.#since,
      nextAttemptAt: this.#nextAttemptAt,
      resourceVersion: this.resourceVersion,
    });
  }

  /** The failure that it is recovering from. */
  get trouble(): Failure | undefined {
    const state = this.#state;
    return state.phase === 'waiting' ? state.failure : state.phase === 'stopped' ? state.trouble : this.#lastTrouble();
  }

  /** Runs until the signal aborts or the watch error handler gives up; then throws what it gave up for. */
  async run(signal: AbortSignal): Promise<void> {
    let input: ReflectorInput | undefined = signal.aborted ? { type: 'stop' } : { type: 'start' };
    while (input !== undefined) {
      const { state, effects } = transition(this.#state, input, this.#options.config);
      this.#enter(state);
      const outcome: ReflectorInput | undefined = await this.#perform(effects, signal);
      input = signal.aborted && this.#state.phase !== 'stopped' ? { type: 'stop' } : outcome;
    }
    if (this.#state.phase === 'stopped' && this.#state.trouble !== undefined) throw this.#state.trouble.error;
  }

  #lastTrouble(): Failure | undefined {
    return this.#state.phase !== 'watching' && this.#state.memory.attempts > 0 ? this.#recent : undefined;
  }

  #enter(state: ReflectorState): void {
    if (state.phase !== this.#state.phase) this.#since = this.#options.clock.monotonicNow();
    this.#state = state;
    this.#options.onStateChange();
  }

  async #perform(effects: readonly ReflectorEffect[], signal: AbortSignal): Promise<ReflectorInput | undefined> {
    const { intake, slicer, metrics } = this.#options;
    for (const effect of effects) {
      switch (effect.type) {
        case 'begin':
          this.#close();
          intake.begin();
          break;
        case 'commit': {
          metrics.synced(intake.replacementSize);
          const isEnded = (): boolean => signal.aborted && !this.#options.isLeaving();
          const refusal = await intake.commit(effect.resourceVersion, slicer, isEnded);
          if (refusal !== undefined) return this.#refused(refusal);
          break;
        }
        case 'close':
          this.#close();
          intake.abandon();
          break;
        case 'streaming-unsupported':
          metrics.streamingUnsupported();
          break;
        case 'trouble': {
          this.#recent = effect.failure;
          metrics.failed(effect.failure);
          if (effect.report && this.#options.watchErrorHandler(effect.failure) === 'stop')
            return { type: 'give-up', failure: effect.failure };
          break;
        }
        case 'list':
          return await this.#list(effect, signal);
        case 'watch':
          return await this.#open(effect, signal);
        case 'read':
          return await this.#read(signal);
        case 'sleep':
          return await this.#sleep(effect, signal);
      }
    }
    return undefined;
  }

  /** The listed objects are not in the store, so they are listed again, as after a failed list. */
  #refused({ error }: StoreRefusal): ReflectorInput {
    const message = `the store did not take what was listed: ${messageOf(error)}`;
    const failure: Failure = { reason: 'store', message, error, retryAfterMs: 0, isConnectionRefused: false };
    return this.#watchFailed('open', failure, this.#options.clock.monotonicNow());
  }

  async #sleep(
    { delayMs, atLeastMs }: Extract<ReflectorEffect, { type: 'sleep' }>,
    signal: AbortSignal,
  ): Promise<ReflectorInput> {
    const { clock, random } = this.#options;
    const wait = Math.max(delayMs * (1 + random()), atLeastMs);
    this.#nextAttemptAt = clock.monotonicNow() + wait;
    try {
      await sleep(wait, { signal, clock, keepAlive: false });
      return { type: 'timer' };
    } catch {
      return { type: 'stop' };
    }
  }

  async #list(effect: Extract<ReflectorEffect, { type: 'list' }>, signal: AbortSignal): Promise<ReflectorInput> {
    const { source, intake, slicer, clock, metrics, listIdleMs, name } = this.#options;
    const started = clock.monotonicNow();
    const reader = new GuardedReader({ clock, signal, idleMs: listIdleMs, what: `the list of ${name}` });
    try {
      const batches = await reader.open(
        source.list({
          ...(effect.continueToken === '' && effect.resourceVersion !== ''
            ? { resourceVersion: effect.resourceVersion }
            : {}),
          ...(effect.limit > 0 ? { limit: effect.limit } : {}),
          ...(effect.continueToken === '' ? {} : { continue: effect.continueToken }),
          signal: reader.signal,
        }),
      );
      const iterator = reader.iterate(batches);
      for (
        let batch = await reader.wait(iterator.next());
        batch.done !== true;
        batch = await reader.wait(iterator.next())
      ) {
        // Before processing, because in one turn each of many informers may have received frames.
        if (slicer.isOver) await slicer.breathe();
        let sinceCheck = 0;
        for (const raw of batch.value) {
          intake.listItem(raw);
          if (++sinceCheck < 16) continue;
          sinceCheck = 0;
          if (slicer.isOver) await slicer.breathe();
        }
      }
      const end = await reader.wait(batches.end());
      this.#refuseOthers('the list');
      metrics.listed(clock.monotonicNow() - started);
      const { isIncomplete } = intake;
      return { type: 'page', resourceVersion: end.resourceVersion, continueToken: end.continueToken, isIncomplete };
    } catch (error) {
      return { type: 'list-failed', failure: classifyFailure(error), now: clock.monotonicNow() };
    } finally {
      reader.close();
    }
  }

  async #open(effect: Extract<ReflectorEffect, { type: 'watch' }>, signal: AbortSignal): Promise<ReflectorInput> {
    const { source, clock, random, minWatchTimeoutMs, idleTimeoutMs, listIdleMs, bookmarks, metrics, name } =
      this.#options;
    const timeoutSeconds = Math.ceil((minWatchTimeoutMs * (1 + random())) / 1000);
    const liveIdleMs = idleTimeoutMs ?? timeoutSeconds * 1000 + watchGraceMs;
    const reader = new GuardedReader({ clock, signal, idleMs: listIdleMs, what: `the watch of ${name}` });
    const openedAt = clock.monotonicNow();
    metrics.watchOpened();
    try {
      const stream = await reader.open(
        source.watch({
          ...(effect.resourceVersion === '' ? {} : { resourceVersion: effect.resourceVersion }),
          ...(effect.initial ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : {}),
          allowWatchBookmarks: bookmarks || effect.initial,
          timeoutSeconds,
          signal: reader.signal,
        }),
      );
      this.#watch = {
        reader,
        iterator: reader.iterate(stream),
        openedAt,
        liveIdleMs,
        events: 0,
        batch: [],
        next: 0,
        initial: { size: 0, at: openedAt },
      };
      if (!effect.initial) reader.idleMs = liveIdleMs;
      return { type: 'opened' };
    } catch (error) {
      reader.close();
      return this.#watchFailed('open', classifyFailure(error), openedAt);
    }
  }

  /** Reads frames until the stream has a frame that needs a decision. */
  async #read(signal: AbortSignal): Promise<ReflectorInput> {
    const { intake, slicer, idleTimeoutMs } = this.#options;
    const watch = this.#watch;
    if (watch === undefined) return { type: 'stop' };
    const isInitial = this.#state.phase === 'streaming';
    if (!isInitial) watch.reader.idleMs = watch.liveIdleMs;
    try {
      for (;;) {
        while (watch.next < watch.batch.length) {
          const raw = watch.batch[watch.next++] as Raw;
          const kind = isInitial ? intake.initialFrame(raw) : intake.liveFrame(raw);
          if (kind === 'upsert' || kind === 'delete' || kind === 'failed') watch.events++;
          else if (kind === 'bookmark' && !isInitial) this.#bookmarks = 'seen';
          else if (kind === 'initial-end' && isInitial) {
            this.#refuseOthers('the initial events');
            if (this.#bookmarks === 'unseen' && this.#options.bookmarks) this.#bookmarks = 'expected';
            return { type: 'initial-end', resourceVersion: intake.resourceVersion };
          } else if (kind === 'error')
            return this.#watchFailed('stream', failureOfStatus(intake.status ?? {}), watch.openedAt);
          if ((watch.next & 15) === 0 && slicer.isOver) {
            await slicer.breathe();
            if (signal.aborted) return { type: 'stop' };
          }
        }
        if (isInitial && this.#isInitialOverdue(watch)) return this.#ended(watch, 'idle', undefined);
        const isBookmarked = this.#bookmarks === 'seen' || this.#bookmarks === 'expected';
        if (isBookmarked && idleTimeoutMs === undefined && !isInitial)
          watch.reader.idleMs = Math.min(watch.liveIdleMs, bookmarkedIdleMs);
        const result = await watch.reader.wait(watch.iterator.next());
        if (result.done === true) return this.#ended(watch, 'closed', undefined);
        watch.batch = result.value;
        watch.next = 0;
        // Before processing, because in one turn each of many informers may have received frames.
        if (slicer.isOver) {
          await slicer.breathe();
          if (signal.aborted) return { type: 'stop' };
        }
      }
    } catch (error) {
      if (signal.aborted) return { type: 'stop' };
      const failure = classifyFailure(error);
      if (failure.reason === 'idle') return this.#ended(watch, 'idle', failure);
      if (failure.reason === 'connection') return this.#ended(watch, 'broken', failure);
      return this.#watchFailed('stream', failure, watch.openedAt);
    }
  }

  /** @throws FrameError if there were objects, but none of this kind, so the answer is about another kind */
  #refuseOthers(what: string): void {
    const count = this.#options.intake.takeRefused();
    if (count > 0)
      throw new FrameError(
        `${what} of ${this.#options.name}: none of ${count} objects is of this kind: does the server, or a proxy in front of it, serve another kind at this path?`,
      );
  }

  /**
   * Whether only known objects have come for too long, which means a server that watches without marking the end of the
   * start.
   */
  #isInitialOverdue({ initial }: OpenWatch<Raw>): boolean {
    const { clock, intake, listIdleMs } = this.#options;
    const now = clock.monotonicNow();
    const size = intake.replacementSize;
    if (size > initial.size) initial.at = now;
    initial.size = Math.max(size, initial.size);
    return now - initial.at > initialPatience * listIdleMs;
  }

  #ended(watch: OpenWatch<Raw>, cause: 'closed' | 'broken' | 'idle', given: Failure | undefined): ReflectorInput {
    const { clock, intake, metrics } = this.#options;
    const now = clock.monotonicNow();
    const openMs = now - watch.openedAt;
    const isInitial = this.#state.phase === 'streaming';
    const failure =
      given ?? classifyFailure(isInitial ? this.#unendedError(cause, openMs) : this.#shortError(watch, openMs));
    this.#close();
    // Expected once, because otherwise each watch of a server without bookmarks would be reopened every three minutes.
    if (cause === 'idle' && !isInitial && this.#bookmarks === 'expected') this.#bookmarks = 'absent';
    const { resourceVersion } = intake;
    if (cause === 'closed' && openMs < 1000 && resourceVersion === this.#state.memory.resourceVersion)
      metrics.shortWatch();
    return { type: 'ended', cause, openMs, resourceVersion, failure, now };
  }

  #unendedError(cause: 'closed' | 'broken' | 'idle', openMs: number): Error {
    const { intake, name } = this.#options;
    return new InitialEventsError(
      `the watch of ${name} ${cause === 'idle' ? 'has not ended its' : 'was closed before the end of its'} initial events after ${openMs} ms and ${intake.replacementSize} objects: the bookmark with the annotation k8s.io/initial-events-end is missing`,
    );
  }

  #shortError({ events }: OpenWatch<Raw>, openMs: number): Error {
    const received = events === 0 ? 'without an event' : `with ${events} events, none of them new`;
    return new ShortWatchError(
      `very short watch: the server closed the watch of ${this.#options.name} after ${openMs} ms ${received}`,
    );
  }

  #watchFailed(where: 'open' | 'stream', failure: Failure, openedAt: number): ReflectorInput {
    const { clock, intake } = this.#options;
    const now = clock.monotonicNow();
    const openMs = now - openedAt;
    this.#close();
    if (failure.reason === 'idle' && this.#state.phase === 'streaming')
      return { type: 'ended', cause: 'idle', openMs, resourceVersion: '', failure, now };
    return { type: 'watch-failed', where, failure, openMs, resourceVersion: intake.resourceVersion, now };
  }

  #close(): void {
    const watch = this.#watch;
    if (watch === undefined) return;
    this.#watch = undefined;
    this.#options.metrics.watchClosed(this.#options.clock.monotonicNow() - watch.openedAt, watch.events);
    watch.reader.close();
  }
}

interface OpenWatch<Raw> {
  readonly reader: GuardedReader;
  readonly iterator: AsyncIterator<readonly Raw[]>;
  readonly openedAt: number;
  readonly liveIdleMs: number;
  events: number;
  batch: readonly Raw[];
  next: number;
  /** How many initial objects there were at most, and when the last of them came. */
  readonly initial: { size: number; at: number };
}

function describeState(
  state: ReflectorState,
  at: { readonly since: number; readonly nextAttemptAt: number; readonly resourceVersion: string },
): InformerState {
  const { since } = at;
  const { attempts, troubleSince } = state.memory;
  switch (state.phase) {
    case 'idle':
      return { phase: 'idle' };
    case 'listing':
      return { phase: 'listing', since, streaming: false, attempts };
    case 'streaming':
      return { phase: 'listing', since, streaming: true, attempts };
    case 'watching':
      return { phase: 'watching', since, resourceVersion: at.resourceVersion };
    case 'waiting':
      return {
        phase: 'retrying',
        since: troubleSince ?? since,
        attempts,
        nextAttemptAt: at.nextAttemptAt,
        trouble: state.failure,
      };
    case 'stopped':
      return state.trouble === undefined
        ? { phase: 'stopped', since }
        : { phase: 'stopped', since, trouble: state.trouble };
  }
}
