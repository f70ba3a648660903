import { isNotFound } from '@kctl/apimachinery';
import type { DeepReadonly, Kind, KubeObject, ObjectKey, PersistedObject, Status } from '@kctl/apimachinery';
import type { DeleteAllOfOptions, DeletedCollection, DeleteOptions } from '@kctl/client';
import type { Clock } from '@kctl/wait';
import type { CacheView } from './cache-view.js';
import type { Ledger } from './ledger.js';
import { isNewer, versionOf } from './own-write.js';
import type { OwnWrite } from './own-write.js';
import type { Vanishings } from './vanishings.js';
import { isObject, mayHaveHappened, outcomeOfDelete, outcomeOfWrite, unread } from './write-outcome.js';
import type { Known } from './write-outcome.js';

/** What {@link WriteRecorder} needs. */
export interface WriteRecorderOptions {
  readonly cache: CacheView;
  readonly ledger: Ledger;
  readonly vanishings: Vanishings;
  readonly clock: Clock;
}

/** Sends writes and remembers what they left behind, before their caller goes on. */
export class WriteRecorder {
  readonly #options: WriteRecorderOptions;

  constructor(options: WriteRecorderOptions) {
    this.#options = options;
  }

  /** A write that is answered with the object. */
  async written<K extends Kind>(
    kind: K,
    about: {
      readonly key: ObjectKey | undefined;
      readonly namespace?: string | undefined;
      readonly options: { readonly dryRun?: boolean };
    },
    send: () => Promise<PersistedObject<K>>,
  ): Promise<PersistedObject<K>> {
    if (about.options.dryRun === true) return await send();
    const object = await this.#send(send, () => {
      if (about.key === undefined) this.#options.ledger.recordScope(kind, about.namespace);
      else this.#record(kind, unread(about.key));
    });
    this.#record(kind, outcomeOfWrite(kind, asObject(object)));
    return object;
  }

  /** A write to a subresource. Its answer is the object, or something that tells no more than that it has changed. */
  async subResource<B extends object>(
    kind: Kind,
    about: { readonly key: ObjectKey; readonly name: string; readonly options: { readonly dryRun?: boolean } },
    send: () => Promise<B>,
  ): Promise<B> {
    // A token request changes nothing.
    if (about.options.dryRun === true || about.name === 'token') return await send();
    const body = await this.#send(send, () => this.#record(kind, unread(about.key)));
    const answer = asObject(body);
    const isWhole = answer.kind === kind.kind && answer.apiVersion === kind.apiVersion && isObject(answer);
    if (isWhole) this.#record(kind, outcomeOfWrite(kind, answer));
    else this.#record(kind, unread(about.key, isObject(answer) ? versionOf(answer) : ''));
    return body;
  }

  async deleted<K extends Kind>(
    kind: K,
    key: ObjectKey,
    options: DeleteOptions,
    send: () => Promise<PersistedObject<K> | Status>,
  ): Promise<PersistedObject<K> | Status> {
    if (options.dryRun === true) return await send();
    const known = await this.#known(kind, key);
    const result = await this.#send(send, () => this.#record(kind, unread(key)));
    this.#record(kind, outcomeOfDelete(kind, { key, result: asAnswer(result), known }));
    return result;
  }

  async deletedAll<K extends Kind>(
    kind: K,
    options: DeleteAllOfOptions,
    send: () => Promise<DeletedCollection<K>>,
  ): Promise<DeletedCollection<K>> {
    if (options.dryRun === true) return await send();
    const record = (): void => this.#options.ledger.recordScope(kind, options.namespace);
    const answer = await this.#send(send, record);
    record();
    return answer;
  }

  /** What is known of an object that is about to be deleted: the newest of own writes and cache. */
  async #known(kind: Kind, key: ObjectKey): Promise<Known> {
    const { cache, ledger } = this.#options;
    const write = ledger.find(kind, key);
    // A store that has not synced would keep the delete waiting.
    const canTell = cache.isCached(kind, key.namespace) && cache.resourceVersionOf(kind, key.namespace) !== '';
    const cached = canTell ? await this.#cached(kind, key) : undefined;
    const fromCache = { uid: cached?.metadata.uid ?? '', floor: cached === undefined ? '' : versionOf(cached) };
    if (write === undefined || write.outcome.type !== 'present') return fromCache;
    return isNewer(fromCache.floor, write.version) ? fromCache : { uid: write.uid, floor: write.version };
  }

  async #cached(kind: Kind, key: ObjectKey): Promise<DeepReadonly<KubeObject> | undefined> {
    try {
      return await this.#options.cache.get<Kind>(kind, key);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      // A cache that cannot answer is no reason not to delete.
      return undefined;
    }
  }

  #record(kind: Kind, write: Omit<OwnWrite, 'recordedAt'>): void {
    const { ledger, vanishings, clock } = this.#options;
    ledger.record(kind, { ...write, recordedAt: clock.monotonicNow() });
    const { outcome, key } = write;
    if (outcome.type === 'present' && kind.shape !== 'metadata') vanishings.wrote(kind, outcome.object);
    else if (outcome.type === 'absent') vanishings.ended(kind, key);
  }

  async #send<T>(send: () => Promise<T>, onUnknown: () => void): Promise<T> {
    try {
      return await send();
    } catch (error) {
      if (mayHaveHappened(error)) onUnknown();
      throw error;
    }
  }
}

/** Every object type of a kind is a KubeObject; the compiler cannot see that through the conditional type. */
function asObject(object: object): DeepReadonly<KubeObject> {
  return object as DeepReadonly<KubeObject>;
}

function asAnswer(result: object): DeepReadonly<KubeObject> | Status {
  return result;
}
