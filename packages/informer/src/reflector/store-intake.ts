import type { DeepReadonly, KubeObject, Status } from '@kctl/apimachinery';
import { compareResourceVersions, formatKey } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';
import { isThenable } from '@kctl/options';
import type { DecodedFrame, Decoder, FindStored, FrameKind } from '../decoders/decoder.js';
import type { ReflectorIntake, StoreRefusal } from './reflector-intake.js';
import { Refusals } from './refusals.js';
import type { ReflectorStore } from './reflector-store.js';

/** Receives what a store throws. */
export type StoreErrorReport = (error: unknown, operation: string, key: string | undefined) => void;

/** Hands what a reflector reads to a store that is not ours. It keeps nothing but the replacement in the making. */
export class StoreIntake<T extends KubeObject, Raw> implements ReflectorIntake<Raw> {
  readonly #store: ReflectorStore<DeepReadonly<T>>;
  readonly #decoder: Decoder<T, Raw>;
  readonly #onStoreError: StoreErrorReport;
  /** Nothing is known here, so each object is read. */
  readonly #find: FindStored<T> = () => undefined;
  #replacement: Map<string, DeepReadonly<T>> | undefined;
  #isListIncomplete = false;
  #isIncomplete = false;
  readonly #refusals = new Refusals();
  #resourceVersion = '';
  #status: Status | undefined;

  constructor(store: ReflectorStore<DeepReadonly<T>>, decoder: Decoder<T, Raw>, onStoreError: StoreErrorReport) {
    this.#store = store;
    this.#decoder = decoder;
    this.#onStoreError = onStoreError;
  }

  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  get status(): Status | undefined {
    return this.#status;
  }

  get isIncomplete(): boolean {
    return this.#isIncomplete;
  }

  takeRefused(): number {
    return this.#refusals.take();
  }

  get replacementSize(): number {
    return this.#replacement?.size ?? 0;
  }

  begin(): void {
    this.#replacement = new Map();
    this.#isListIncomplete = false;
    this.#refusals.take();
  }

  abandon(): void {
    this.#replacement = undefined;
  }

  listItem(raw: Raw): void {
    const item = this.#decoder.item(raw, this.#find);
    const object = this.#read(item.stored);
    const isAnyone = this.#refusals.count(item) && item.refused?.identity === undefined;
    // An object that cannot be read, or has no name, may be any existing object; one of another kind does not belong
    // here.
    if (
      isAnyone ||
      item.isUnreadable ||
      item.failed !== undefined ||
      (item.stored !== undefined && object === undefined)
    )
      this.#isListIncomplete = true;
    if (item.stored !== undefined && object !== undefined) this.#replacement?.set(formatKey(item.stored), object);
  }

  initialFrame(raw: Raw): FrameKind {
    const frame = this.#decoder.frame(raw, this.#find, false);
    const { stored } = frame;
    const object = this.#read(stored);
    const isOfObject = frame.kind === 'upsert' || frame.kind === 'delete' || frame.kind === 'skipped';
    const isAnyone = isOfObject && this.#refusals.count(frame) && frame.refused?.identity === undefined;
    if (isAnyone || frame.kind === 'failed' || (stored !== undefined && object === undefined))
      this.#isListIncomplete = true;
    if (stored !== undefined && object !== undefined) {
      const key = formatKey(stored);
      if (frame.kind === 'delete') this.#replacement?.delete(key);
      else this.#replacement?.set(key, object);
    }
    this.#note(frame);
    if (frame.kind === 'initial-end') this.#resourceVersion = frame.resourceVersion;
    return frame.kind;
  }

  liveFrame(raw: Raw): FrameKind {
    const frame = this.#decoder.frame(raw, this.#find, false);
    const { kind, stored } = frame;
    const object = this.#read(stored);
    if (stored !== undefined && object !== undefined) {
      const operation = kind === 'delete' ? 'delete' : frame.isAdded ? 'add' : 'update';
      this.#call(operation, formatKey(stored), () => this.#store[operation](object));
    }
    this.#note(frame);
    if (this.#advance(frame.resourceVersion) && kind !== 'upsert' && kind !== 'delete')
      this.#call('bookmark', undefined, () => this.#store.bookmark?.(this.#resourceVersion));
    return kind;
  }

  commit(resourceVersion: string): Promise<StoreRefusal | undefined> {
    const replacement = this.#replacement;
    if (replacement === undefined) return Promise.resolve(undefined);
    this.#replacement = undefined;
    this.#isIncomplete = this.#isListIncomplete;
    this.#resourceVersion = resourceVersion;
    const info = { isIncomplete: this.#isIncomplete };
    const replace = (): unknown => this.#store.replace([...replacement.values()], resourceVersion, info);
    return Promise.resolve(this.#call('replace', undefined, replace));
  }

  /** The parsed object. The decoder reports what cannot be read. */
  #read(stored: StoredObject<T> | undefined): DeepReadonly<T> | undefined {
    if (stored === undefined) return undefined;
    try {
      return stored.object;
    } catch {
      this.#decoder.retire(stored);
      return undefined;
    }
  }

  #note(frame: DecodedFrame<T>): void {
    if (frame.kind === 'error') this.#status = frame.status;
  }

  /** Versions only go forward. */
  #advance(resourceVersion: string): boolean {
    if (resourceVersion === '') return false;
    if (compareResourceVersions(resourceVersion, this.#resourceVersion) === 'older') return false;
    this.#resourceVersion = resourceVersion;
    return true;
  }

  #call(operation: string, key: string | undefined, work: () => unknown): StoreRefusal | undefined {
    return callStore(operation, work, (error) => this.#onStoreError(error, operation, key));
  }
}

/**
 * Calls a foreign store. Its errors, and the rejection of a promise that it returns, are reported.
 *
 * @returns the error, if it threw; it has then not done its work
 */
export function callStore(
  operation: string,
  work: () => unknown,
  report: (error: unknown) => void,
): StoreRefusal | undefined {
  try {
    const result = work();
    if (!isThenable(result)) return undefined;
    Promise.resolve(result).catch(report);
  } catch (error) {
    report(error);
    return { error };
  }
  report(new TypeError(`store.${operation} returned a promise: a store works synchronously`));
  return undefined;
}
