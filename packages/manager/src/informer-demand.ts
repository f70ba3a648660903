import type { GroupVersionKind } from '@kctl/apimachinery';
import { formatGroupVersionKind } from '@kctl/apimachinery';
import type { Logger } from '@kctl/telemetry';
import { listedBy } from './listed-by.js';
import type { Runnable, RunnableSource } from './runnable.js';
import { RunnableError } from './errors.js';
import { groupOf } from './runnable.js';

/** Whether a runnable needs an informer; `unnamed` if no runnable names it. */
export type Demand = 'required' | 'optional' | 'unnamed';

/** An informer that is kept running for a runnable. */
interface Hold {
  readonly cache: object;
  /** Of the kind. */
  readonly id: string;
  /** Undefined if the cache does not lend. */
  readonly loan: AsyncDisposable | undefined;
}

/**
 * Requirements of a manager's runnables on informers. Those that are required run from the start of the caches on, on
 * each replica, for as long as the runnable has such a source and is not removed.
 */
export class InformerDemand {
  readonly #ownCache: object;
  readonly #logger: Logger;
  readonly #onError: (error: RunnableError) => void;
  readonly #holds = new Map<Runnable, readonly Hold[]>();
  #isStarted = false;

  /** `onError` receives the failure of a runnable to list its sources. */
  constructor(ownCache: object, logger: Logger, onError: (error: RunnableError) => void) {
    this.#ownCache = ownCache;
    this.#logger = logger;
    this.#onError = onError;
  }

  /** Takes a runnable into account; after the start its informers are started at once. */
  add(runnable: Runnable): void {
    if (runnable.sources === undefined) return;
    this.#holds.set(runnable, []);
    if (this.#isStarted) this.#hold(runnable);
  }

  /** Starts the informers that are required; those of runnables that come later at once. Idempotent. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (const runnable of this.#holds.keys()) this.#hold(runnable);
  }

  /** Applies a change of a runnable's sources; at once after the start. */
  update(runnable: Runnable): void {
    if (this.#isStarted && this.#holds.has(runnable)) this.#hold(runnable);
  }

  /** Removes a runnable. The returned function releases its informers, once the runnable has ended. */
  remove(runnable: Runnable): () => Promise<void> {
    const holds = this.#holds.get(runnable) ?? [];
    this.#holds.delete(runnable);
    return async () => {
      await Promise.all(holds.map(async ({ loan }) => await loan?.[Symbol.asyncDispose]()));
    };
  }

  /** Whether an informer of that cache is needed now. */
  of(cache: object, kind: GroupVersionKind): Demand {
    const id = idOf(kind);
    let demand: Demand = 'unnamed';
    for (const runnable of this.#holds.keys())
      for (const source of sourcesOf(runnable).sources) {
        if (source.kind === undefined || this.#cacheOf(source) !== cache || idOf(source.kind) !== id) continue;
        if (source.isRequired) return 'required';
        demand = 'optional';
      }
    return demand;
  }

  /**
   * Required sources that run and have not synced, as `<runnable>: <source> is <phase>`. If there is an election, those
   * that start when it is won do not count, because their informers do, on each replica, and readiness does not depend
   * on leadership.
   */
  unsynced(hasElection: boolean): string[] {
    const counted = [...this.#holds.keys()].filter(
      (runnable) => !hasElection || groupOf(runnable) !== 'leader' || runnable.warmup !== undefined,
    );
    return counted.flatMap((runnable) => {
      const { sources, failure } = sourcesOf(runnable);
      const unsynced = sources
        .filter(({ isRequired, phase }) => isRequired && (phase === 'starting' || phase === 'failed'))
        .map(({ name = 'a source', phase }) => `${nameOf(runnable)}: ${name} is ${phase ?? ''}`);
      return failure === undefined ? unsynced : [...unsynced, failure.message];
    });
  }

  #cacheOf(source: RunnableSource): object {
    return source.informers ?? this.#ownCache;
  }

  #hold(runnable: Runnable): void {
    const { sources, failure } = sourcesOf(runnable);
    if (failure !== undefined) this.#onError(failure);
    const before = this.#holds.get(runnable) ?? [];
    const holds: Hold[] = [];
    for (const source of sources) {
      const { kind, isRequired } = source;
      if (kind === undefined || !isRequired) continue;
      const [cache, id] = [this.#cacheOf(source), idOf(kind)];
      const isSame = (hold: Hold): boolean => hold.cache === cache && hold.id === id;
      if (holds.some(isSame)) continue;
      holds.push(before.find(isSame) ?? { cache, id, loan: this.#takeInformer(cache, kind) });
    }
    this.#holds.set(runnable, holds);
    for (const hold of before) if (!holds.includes(hold)) void this.#letGo(hold);
  }

  /** Starts an informer, on loan if the cache lends, so that it can be returned. Does not wait. */
  #takeInformer(cache: object, kind: GroupVersionKind): AsyncDisposable | undefined {
    // The source itself will fail for the same reason, and reports it.
    const onError = (error: unknown): void =>
      this.#logger.debug('an informer cannot be started before its source', {
        kind: formatGroupVersionKind(kind),
        error,
      });
    try {
      if (canLend(cache)) return cache.acquire(kind);
      if (canDeclare(cache)) Promise.resolve(cache.informer(kind)).catch(onError);
    } catch (error) {
      onError(error);
    }
    return undefined;
  }

  /** Never rejects. */
  async #letGo({ id, loan }: Hold): Promise<void> {
    try {
      await loan?.[Symbol.asyncDispose]();
    } catch (error) {
      this.#logger.debug('an informer could not be returned', { kind: id, error });
    }
  }
}

/** The sources listed by a runnable; if it throws, the error and an empty list. */
function sourcesOf(runnable: Runnable): {
  readonly sources: readonly RunnableSource[];
  readonly failure?: RunnableError;
} {
  try {
    const sources = listedBy<RunnableSource>('sources()', runnable.sources?.(), '{ isRequired, kind, … }');
    return { sources };
  } catch (error) {
    return { sources: [], failure: new RunnableError(nameOf(runnable), error) };
  }
}

function nameOf({ name = 'a runnable' }: Runnable): string {
  return name;
}

function canLend(cache: object): cache is { acquire(kind: GroupVersionKind): AsyncDisposable } {
  return 'acquire' in cache && typeof cache.acquire === 'function';
}

function canDeclare(cache: object): cache is { informer(kind: GroupVersionKind): Promise<unknown> } {
  return 'informer' in cache && typeof cache.informer === 'function';
}

/** Full and untyped tokens share an informer, as in @kctl/cache. */
function idOf(token: GroupVersionKind): string {
  const shape = 'shape' in token ? String(token.shape) : '';
  return `${formatGroupVersionKind(token)} ${shape === 'metadata' || shape === 'stripped' ? shape : 'whole'}`;
}
