import { formatKey, keyOf } from '@kctl/apimachinery';
import { asObject } from '../writes/as-object.js';
import type { DeepReadonly, Kind, KindShape, KubeObject, ObjectKey } from '@kctl/apimachinery';
import { listWithin } from '@kctl/client/internal';
import type { Reader } from '@kctl/client';
import type { Clock } from '@kctl/wait';
import { orAborted } from '@kctl/wait';
import { throwIfAborted } from '@kctl/wait/internal';
import type { CacheView } from './cache-view.js';
import type { PendingWrites } from './pending-writes.js';
import { isAtLeast, isComparable, isNewer, isSuperseded, storeName, versionOf } from '../writes/own-write.js';
import type { OwnWrite } from '../writes/own-write.js';
import { outcomeOfObject } from '../writes/write-outcome.js';

/** Options for {@link ServerQuestions}. */
export interface ServerQuestionsOptions {
  readonly cache: CacheView;
  readonly live: Pick<Reader, 'list'>;
  readonly pendingWrites: PendingWrites;
  readonly clock: Clock;
}

/**
 * The server's answer about a scope, as the version of the answer by namespace; '' for namespaces that were requested
 * at once.
 */
type AnsweredVersions = ReadonlyMap<string, string>;

/**
 * Queries the server for anything the cache cannot answer, and records the answers with the own writes, so that a read
 * is always answered from cache and recorded writes. It never contains more than the cache would, and the next one
 * never goes back behind it.
 *
 * A running query is shared by all its callers. Retains nothing between queries.
 */
export class ServerQuestions {
  readonly #options: ServerQuestionsOptions;
  /** By the write that raised them, because an answer to an older write would not do. */
  readonly #asked = new WeakMap<object, Map<string, Question>>();

  constructor(options: ServerQuestionsOptions) {
    this.#options = options;
  }

  /**
   * Returns the outcome for a key by listing this one name, because a list has a version even if the object is gone.
   * Undefined if the server does not report it.
   */
  about(kind: Kind, write: OwnWrite, signal: AbortSignal | undefined): Promise<OwnWrite | undefined> {
    const id = `${kind.apiVersion} ${kind.shape}`;
    return this.#once(write, { id, signal }, (shared) => this.#askName(kind, write, shared));
  }

  /**
   * Compares the store of a kind with the server, in a namespace (in all of the cache's if undefined). One list for
   * each scope of the cache; O(objects of the namespace).
   *
   * @param asked `reason` is the cause of the query. `isLate` means that the store has not synced and is not waited
   * for, so it holds nothing
   * @returns the version of the server, above that of every earlier write; '' if versions cannot be compared
   */
  differences(kind: Kind, namespace: string | undefined, { reason, signal, isLate }: Asked): Promise<string> {
    const id = `${kind.apiVersion} ${kind.shape} ${namespace ?? '*'}${isLate ? ' late' : ''}`;
    return this.#once(reason, { id, signal }, (shared) => this.#compare(kind, namespace, { isLate, signal: shared }));
  }

  async #once<T>(
    reason: object,
    { id, signal }: { readonly id: string; readonly signal: AbortSignal | undefined },
    ask: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    throwIfAborted(signal);
    let running = this.#asked.get(reason);
    if (running === undefined) this.#asked.set(reason, (running = new Map<string, Question>()));
    const owner = running;
    let question = owner.get(id);
    if (question === undefined) {
      const ending = new AbortController();
      const made: Question = { answer: ask(ending.signal), ending, waiting: 0 };
      question = made;
      owner.set(id, made);
      const end = (): void => void (owner.get(id) === made && owner.delete(id));
      made.answer.then(end, end);
    }
    question.waiting++;
    try {
      return await orAborted(question.answer as Promise<T>, signal);
    } finally {
      // The last waiting read has given up, so the answer is not needed and the next read sends a request.
      if (--question.waiting === 0 && owner.get(id) === question) {
        owner.delete(id);
        question.ending.abort();
      }
    }
  }

  async #askName(kind: Kind, open: OwnWrite, signal: AbortSignal): Promise<OwnWrite | undefined> {
    const { cache, live, pendingWrites } = this.#options;
    const { key } = open;
    const within = key.namespace === undefined ? {} : { namespace: key.namespace };
    const scopes = cache.scopesOf?.(kind) ?? [{}];
    const named = { ...within, fieldSelector: { 'metadata.name': key.name } };
    const [answer] = await listWithin(live, kind, { ...named, scopes, signal });
    const version = answer?.list.metadata.resourceVersion ?? '';
    if (answer === undefined || !isComparable(version)) return undefined;
    const found = answer.list.items.map((item) => asObject(item)).find((item) => item.metadata.name === key.name);
    // An object that the selectors of one store exclude may be in another one.
    const isPart = scopes.some((scope) => scope.labelSelector !== undefined || scope.fieldSelector !== undefined);
    const gone = { version, uid: open.uid, ...(isPart ? { within: storeName(kind) } : {}) };
    const write = found === undefined ? this.#absent(key, gone) : this.#present(kind, found, open.isLearned);
    pendingWrites.settle(kind, open, write);
    return write;
  }

  async #compare(
    kind: Kind,
    namespace: string | undefined,
    { isLate, signal }: { readonly isLate: boolean; readonly signal: AbortSignal },
  ): Promise<string> {
    const { cache, live, pendingWrites } = this.#options;
    const within = namespace === undefined ? {} : { namespace };
    const kindWrites = pendingWrites.writesIn(kind, namespace);
    // The list also waits until the store has synced, and declares the kind as reads do.
    if (!isLate) await cache.list(kind, { ...within, limit: 1, signal });
    const scopes = cache.scopesOf?.(kind) ?? [{}];
    const answers = await listWithin(live, kind, { ...within, scopes, signal });
    const versions = new Map(
      answers.map((answer) => [answer.namespace ?? '', answer.list.metadata.resourceVersion ?? '']),
    );
    if ([...versions.values()].some((version) => !isComparable(version))) return '';
    const storeVersion = cache.resourceVersionOf(kind, namespace);
    const shown = isLate ? [] : (await cache.list(kind, { ...within, signal })).items;
    const cached = new Map(shown.map((item) => [idOf(asObject(item)), asObject(item)]));
    for (const item of answers.flatMap(({ list }) => list.items)) {
      const object = asObject(item);
      const id = idOf(object);
      const held = cached.get(id);
      const pending = kindWrites.get(id);
      cached.delete(id);
      kindWrites.delete(id);
      const isNews = !(held !== undefined && isAtLeast(versionOf(held), versionOf(object)));
      if (pending === undefined ? isNews : !isFresh(pending, versionOf(object), kind.shape))
        pendingWrites.settle(kind, pending, this.#present(kind, object, pending?.isLearned ?? true));
    }
    // An object that the store has and the server has not is gone, or has left the scope of the store; the same holds
    // for open look-ups.
    for (const [id, object] of cached) {
      const pending = kindWrites.get(id);
      kindWrites.delete(id);
      const version = versionAt(versions, object.metadata.namespace);
      if (isNewer(versionOf(object), version) || (pending !== undefined && isNewer(pending.version, version))) continue;
      const gone = { version, uid: object.metadata.uid ?? '', within: storeName(kind) };
      pendingWrites.settle(kind, pending, this.#absent(keyOf(object), gone));
    }
    for (const pending of kindWrites.values()) {
      const version = versionAt(versions, pending.key.namespace);
      const isKnown = pending.outcome.type === 'absent' && pending.version !== '';
      if (version === '' || isKnown || isNewer(pending.version, version)) continue;
      if (isSuperseded(pending, { storeVersion, cached: undefined })) continue;
      pendingWrites.settle(
        kind,
        pending,
        this.#absent(pending.key, { version, uid: pending.uid, within: storeName(kind) }),
      );
    }
    return [...versions.values()].reduce((oldest, version) => (isNewer(oldest, version) ? version : oldest));
  }

  #present(kind: Kind, object: DeepReadonly<KubeObject>, isLearned: boolean | undefined): OwnWrite {
    const recordedAt = this.#options.clock.monotonicNow();
    return { ...outcomeOfObject(kind, object), recordedAt, ...(isLearned === true ? { isLearned } : {}) };
  }

  #absent(key: ObjectKey, { within, ...known }: Gone): OwnWrite {
    const recordedAt = this.#options.clock.monotonicNow();
    const outcome = within === undefined ? ({ type: 'absent' } as const) : ({ type: 'absent', within } as const);
    return { key, outcome, ...known, observedVersion: '', recordedAt, isLearned: true };
  }
}

interface Asked {
  readonly reason: object;
  readonly signal: AbortSignal | undefined;
  readonly isLate: boolean;
}

/** A running query. */
interface Question {
  readonly answer: Promise<unknown>;
  readonly ending: AbortController;
  /** How many wait for it. */
  waiting: number;
}

interface Gone {
  readonly version: string;
  readonly uid: string;
  readonly within?: string;
}

/**
 * Reports whether a recorded write is at least as new and as complete as the object of this version that was read in
 * this shape.
 */
function isFresh({ outcome, version }: OwnWrite, read: string, shape: KindShape): boolean {
  if (outcome.type !== 'present') return isNewer(version, read);
  return isNewer(version, read) || (version === read && (outcome.shape !== 'metadata' || shape === 'metadata'));
}

function versionAt(versions: AnsweredVersions, namespace: string | undefined): string {
  return versions.get(namespace ?? '') ?? versions.get('') ?? '';
}

function idOf(object: DeepReadonly<KubeObject>): string {
  return formatKey(keyOf(object));
}
