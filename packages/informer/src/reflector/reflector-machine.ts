import type { TroubleReason } from '../informer-state.js';
import type { Failure } from './failure.js';
import type { ReflectorConfig } from './reflector-config.js';
import type {
  ListStep,
  ReflectorEffect,
  ReflectorInput,
  ReflectorMemory,
  ReflectorState,
  Transition,
} from './reflector-state.js';
import { initialMemory } from './reflector-state.js';

/** The state before `start`. */
export const initialReflectorState: ReflectorState = { phase: 'idle', memory: initialMemory };

/**
 * The reflector as a function that decides the next action after each event, without performing it. The rows of
 * client-go's "what each failure does" are its cases; a case that differs states it.
 */
export function transition(state: ReflectorState, input: ReflectorInput, config: ReflectorConfig): Transition {
  if (state.phase === 'stopped') return { state, effects: [] };
  const { memory } = state;
  switch (input.type) {
    case 'start':
      return sync(memory, config, []);
    case 'stop':
      return { state: { phase: 'stopped', memory }, effects: [{ type: 'close' }] };
    case 'give-up':
      return { state: { phase: 'stopped', memory, trouble: input.failure }, effects: [{ type: 'close' }] };
    case 'timer':
      return state.phase === 'waiting' && state.next === 'watch'
        ? reopenWatch(memory, config)
        : sync(memory, config, []);
    case 'page':
      return state.phase === 'listing' ? afterPage(state.step, input, memory) : { state, effects: [] };
    case 'list-failed':
      return state.phase === 'listing'
        ? afterListFailure(state.step, input, { memory, config })
        : { state, effects: [] };
    case 'initial-end':
      return afterInitialEnd(input.resourceVersion, memory);
    case 'opened':
      return { state, effects: [{ type: 'read' }] };
    case 'ended':
      return state.phase === 'streaming'
        ? afterStreamClosed(input, memory, config)
        : afterWatchEnded(input, memory, config);
    case 'watch-failed':
      return state.phase === 'streaming'
        ? afterStreamFailure(input, memory, config)
        : afterWatchFailure(input, memory, config);
  }
}

const streamClosesBeforeFallback = 3;

/** Gets the state of the collection, by streaming if that works, by list otherwise. */
function sync(memory: ReflectorMemory, config: ReflectorConfig, before: readonly ReflectorEffect[]): Transition {
  if (!config.watchList || memory.isStreamingUnsupported) return list(memory, config, before);
  const resourceVersion = memory.isUnavailable ? '' : memory.resourceVersion;
  return {
    state: { phase: 'streaming', memory },
    effects: [...before, { type: 'begin' }, { type: 'watch', initial: true, resourceVersion }],
  };
}

function list(memory: ReflectorMemory, config: ReflectorConfig, before: readonly ReflectorEffect[]): Transition {
  const resourceVersion = memory.isUnavailable ? '' : memory.resourceVersion === '' ? '0' : memory.resourceVersion;
  const limit = limitFor(resourceVersion, memory, config);
  const step: ListStep = { page: 1, resourceVersion, limit, isFullList: limit === 0 };
  return {
    state: { phase: 'listing', memory, step },
    effects: [...before, { type: 'begin' }, { type: 'list', resourceVersion, limit, continueToken: '' }],
  };
}

/** client-go's rule; 0 means no limit, so that the server can answer out of its watch cache. */
function limitFor(resourceVersion: string, memory: ReflectorMemory, config: ReflectorConfig): number {
  if (config.pageSize !== undefined) return config.pageSize;
  if (memory.pagesForEver) return defaultPageSize;
  return resourceVersion === '' || resourceVersion === '0' ? defaultPageSize : 0;
}

const defaultPageSize = 500;

function afterPage(
  step: ListStep,
  input: Extract<ReflectorInput, { type: 'page' }>,
  memory: ReflectorMemory,
): Transition {
  const resourceVersion = step.page === 1 ? input.resourceVersion : (step.listVersion ?? input.resourceVersion);
  if (input.continueToken !== '') {
    const next: ListStep = { ...step, page: step.page + 1, listVersion: resourceVersion };
    return {
      state: { phase: 'listing', memory, step: next },
      effects: [{ type: 'list', resourceVersion: '', limit: step.limit, continueToken: input.continueToken }],
    };
  }
  const pagesForEver = memory.pagesForEver || (step.resourceVersion === '0' && step.page > 1);
  const { isIncomplete = false } = input;
  const next = { ...synced(memory, resourceVersion), pagesForEver, isIncomplete };
  return openWatch(next, [{ type: 'commit', resourceVersion }]);
}

interface Context {
  readonly memory: ReflectorMemory;
  readonly config: ReflectorConfig;
}

function afterListFailure(
  step: ListStep,
  input: Extract<ReflectorInput, { type: 'list-failed' }>,
  { memory, config }: Context,
): Transition {
  const { failure } = input;
  // 410 for a continue token. The rest of the list is gone, so it is read as a whole.
  if (failure.reason === 'expired' && step.page > 1 && !step.isFullList) {
    const whole: ListStep = { page: 1, resourceVersion: step.resourceVersion, limit: 0, isFullList: true };
    return {
      state: { phase: 'listing', memory, step: whole },
      effects: [
        { type: 'begin' },
        { type: 'list', resourceVersion: step.resourceVersion, limit: 0, continueToken: '' },
      ],
    };
  }
  if (isVersionUnavailable(failure) && step.resourceVersion !== '')
    return list({ ...memory, isUnavailable: true }, config, []);
  return wait(memory, config, { next: 'sync', failure, now: input.now, report: true });
}

/** The initial events of a stream are complete; the same stream goes on with live events. */
function afterInitialEnd(resourceVersion: string, memory: ReflectorMemory): Transition {
  const next = healthy(synced(memory, resourceVersion));
  return {
    state: { phase: 'watching', memory: { ...next, streamCloses: 0 } },
    effects: [{ type: 'commit', resourceVersion }, { type: 'read' }],
  };
}

/**
 * A stream that ended before its initial events did. client-go reopens such a stream without limit; here a few in a row mean
 * that the server never ends them.
 */
function afterStreamClosed(
  input: Extract<ReflectorInput, { type: 'ended' }>,
  memory: ReflectorMemory,
  config: ReflectorConfig,
): Transition {
  const { failure, now } = input;
  const next: ReflectorMemory = { ...memory, streamCloses: memory.streamCloses + 1 };
  const trouble: ReflectorEffect = { type: 'trouble', failure, report: true };
  if (next.streamCloses >= streamClosesBeforeFallback)
    return list({ ...troubled(next, now), isStreamingUnsupported: true }, config, [
      trouble,
      { type: 'streaming-unsupported' },
    ]);
  // The silence has already taken time, so this sync is done by a list; the next one may stream again.
  if (input.cause === 'idle') return list(troubled(next, now), config, [trouble]);
  return wait(next, config, { next: 'sync', failure, now, report: true });
}

function afterStreamFailure(
  input: Extract<ReflectorInput, { type: 'watch-failed' }>,
  memory: ReflectorMemory,
  config: ReflectorConfig,
): Transition {
  const { failure, now } = input;
  if (failure.isConnectionRefused || failure.reason === 'throttled')
    return wait(memory, config, { next: 'sync', failure, now, report: false });
  if (isVersionUnavailable(failure) && memory.resourceVersion !== '' && !memory.isUnavailable)
    return sync({ ...memory, isUnavailable: true }, config, []);
  if (isStreamingRefused(failure))
    return list({ ...memory, isStreamingUnsupported: true }, config, [{ type: 'streaming-unsupported' }]);
  // A broken connection does not reflect the server's abilities. It counts like a close without the end marker.
  if (failure.reason === 'connection' && input.where === 'stream')
    return afterStreamClosed({ ...input, type: 'ended', cause: 'broken', failure }, memory, config);
  return list(troubled(memory, now), config, [{ type: 'trouble', failure, report: false }]);
}

function afterWatchEnded(
  input: Extract<ReflectorInput, { type: 'ended' }>,
  memory: ReflectorMemory,
  config: ReflectorConfig,
): Transition {
  const next = moved(memory, input);
  // Previously known events do not count, because a server that replays them and closes would be called without a
  // pause.
  const isShort = input.cause !== 'idle' && !hasAdvanced(memory, input) && input.openMs < shortWatchMs;
  if (!isShort) return reopenWatch(next, config);
  // A broken connection does not indicate a bad version, so the watch is opened again. A server that closes at once, as
  // client-go has it, is sent a list request, and so is one whose watches break a few times in a row, because an
  // intermediary may answer for a server that has nothing to send at this version.
  const brokenWatches = input.cause === 'broken' ? next.brokenWatches + 1 : 0;
  return wait({ ...next, brokenWatches }, config, {
    next: input.cause === 'broken' && brokenWatches < brokenWatchesBeforeList ? 'watch' : 'sync',
    failure: input.failure,
    now: input.now,
    report: true,
  });
}

const shortWatchMs = 1000;
const brokenWatchesBeforeList = 3;

function afterWatchFailure(
  input: Extract<ReflectorInput, { type: 'watch-failed' }>,
  memory: ReflectorMemory,
  config: ReflectorConfig,
): Transition {
  const { failure, now } = input;
  const next = moved(memory, input);
  if (failure.reason === 'throttled') return wait(next, config, { next: 'watch', failure, now, report: false });
  if (failure.reason === 'connection' || failure.reason === 'idle')
    // client-go relists when a watch cannot be opened, except for a refused connection. A missing answer is no verdict
    // about the version. Reopening costs one request, relisting costs the collection.
    return wait(next, config, { next: 'watch', failure, now, report: !failure.isConnectionRefused });
  if (failure.reason === 'decode' && next.attempts === 0)
    // A truncated frame is a broken connection; the second one in a row means that the server cannot send it properly.
    return wait(next, config, { next: 'watch', failure, now, report: true });
  if (failure.reason === 'internal-error' && input.where === 'stream') {
    const since = next.internalErrorSince ?? now;
    if (now - since < config.maxInternalErrorRetryMs)
      return reopenWatch({ ...next, internalErrorSince: since }, config);
    return wait({ ...next, internalErrorSince: undefined }, config, { next: 'sync', failure, now, report: true });
  }
  return wait(next, config, { next: 'sync', failure, now, report: true });
}

/** The next watch, unless only a list can reveal deletions. */
function reopenWatch(memory: ReflectorMemory, config: ReflectorConfig): Transition {
  return memory.isIncomplete ? sync(memory, config, []) : openWatch(memory, []);
}

function openWatch(memory: ReflectorMemory, before: readonly ReflectorEffect[]): Transition {
  return {
    state: { phase: 'watching', memory },
    effects: [...before, { type: 'watch', initial: false, resourceVersion: memory.resourceVersion }],
  };
}

interface Wait {
  readonly next: 'sync' | 'watch';
  readonly failure: Failure;
  readonly now: number;
  /** Whether the watch error handler is called. */
  readonly report: boolean;
}

/** Failures that only mean that the server is away or overloaded. */
const outages: ReadonlySet<TroubleReason> = new Set(['connection', 'idle', 'throttled', 'internal-error']);
const leastOutage = 3;

/**
 * Waits out one step of the backoff. It starts over after `backoffResetMs` without any backoff, which a long outage
 * does not allow. It also starts over when the server answers after an outage, because a restarted server rejects the
 * version of a watch as too old, and the store would be stale for another minute. The watches that come back are spread
 * by the backoff of the outage. One or two connections that break between other failures are not an outage.
 */
function wait(memory: ReflectorMemory, config: ReflectorConfig, { next, failure, now, report }: Wait): Transition {
  const isInOutage = outages.has(failure.reason);
  const hasAnswered = memory.outageBackoffs >= leastOutage && !isInOutage;
  const outageBackoffs = isInOutage ? memory.outageBackoffs + 1 : 0;
  const isFresh =
    hasAnswered || memory.lastBackoffAt === undefined || now - memory.lastBackoffAt > config.backoff.resetMs;
  const step = isFresh ? 0 : memory.backoffStep + 1;
  const delayMs = Math.min(config.backoff.initialMs * config.backoff.factor ** step, config.backoff.maxMs);
  const following: ReflectorMemory = {
    ...troubled(memory, now),
    backoffStep: step,
    lastBackoffAt: now,
    outageBackoffs,
  };
  const sleep: ReflectorEffect = { type: 'sleep', delayMs, atLeastMs: failure.retryAfterMs };
  return {
    state: { phase: 'waiting', memory: following, next, failure },
    effects: [{ type: 'close' }, { type: 'trouble', failure, report }, sleep],
  };
}

/** 410, in a response or in the stream, and versions that the server does not have yet, for which only a list helps. */
function isVersionUnavailable(failure: Failure): boolean {
  return failure.reason === 'expired' || failure.reason === 'too-large-resource-version';
}

/** A server that does not know `sendInitialEvents` calls the request bad or invalid. */
function isStreamingRefused({ error }: Failure): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'httpCode' in error &&
    (error.httpCode === 400 || error.httpCode === 422)
  );
}

function synced(memory: ReflectorMemory, resourceVersion: string): ReflectorMemory {
  return { ...memory, resourceVersion, isUnavailable: false, isIncomplete: false, brokenWatches: 0 };
}

/** How a watch ended, as far as it decides whether it was worth opening. */
interface WatchEnd {
  readonly resourceVersion: string;
  readonly openMs: number;
}

/** Whether a watch brought something that was not known when it was opened, at the version of the memory. */
function hasAdvanced(memory: ReflectorMemory, { resourceVersion }: WatchEnd): boolean {
  return resourceVersion !== '' && resourceVersion !== memory.resourceVersion;
}

/** Outcome of an ended watch. One that brought new events, or lasted, ends the trouble before it. */
function moved(memory: ReflectorMemory, watch: WatchEnd): ReflectorMemory {
  if (hasAdvanced(memory, watch)) return healthy({ ...memory, resourceVersion: watch.resourceVersion });
  return watch.openMs >= shortWatchMs ? healthy(memory) : memory;
}

function healthy(memory: ReflectorMemory): ReflectorMemory {
  return { ...memory, troubleSince: undefined, attempts: 0, brokenWatches: 0 };
}

function troubled(memory: ReflectorMemory, now: number): ReflectorMemory {
  return { ...memory, troubleSince: memory.troubleSince ?? now, attempts: memory.attempts + 1 };
}
