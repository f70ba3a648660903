import type { KubeObject, Status } from '@kctl/apimachinery';
import { compareResourceVersions } from '@kctl/apimachinery';
import type { Indexer, Replacement, ReplacedContent, StoredObject, StoredWrite } from '@kctl/cache-index';
import type { Publication } from '@kctl/delivery';
import type { Slicer } from '@kctl/wait/internal';
import { Change } from '../handlers/change.js';
import type {
  DecodedFrame,
  DecodedItem,
  Decoder,
  FindStored,
  FrameKind,
  VersionIdentity,
} from '../decoders/decoder.js';
import { LazyObject } from '../bytes/lazy-object.js';
import type { ReflectorIntake } from './reflector-intake.js';
import { Refusals } from './refusals.js';

const nothingKnown: StoredWrite = {};
const initialFlags = { isInInitialList: true };
const presentFields: StoredWrite = { hasPresentFields: true };

/** The changes of a replaced store, for the handlers that were there when it was replaced. */
export interface Drain<T extends KubeObject> extends Publication<Change<T>> {
  /** All were offered; with the first drain, the initial list was. */
  end(): void;
}

/** Destination of changes. */
export interface ChangeSink<T extends KubeObject> {
  /** Changes of one write, which the store has already; either one change, or a delete and the add that follows. */
  dispatch(change: Change<T>, next?: Change<T>): void;
  /** Begins the changes of a replaced store; handlers that join from now on are not concerned. */
  beginDrain(): Drain<T>;
  /** The store is at another version. */
  moved(): void;
}

/**
 * Writes the objects read by the reflector to the store, and reports the changes. The order is part of the contract.
 * The store comes first, then the handlers; a replacement as a whole, then its deletions, then its additions and
 * updates.
 */
export class Intake<T extends KubeObject, Raw> implements ReflectorIntake<Raw> {
  readonly #indexer: Indexer<T>;
  readonly #decoder: Decoder<T, Raw>;
  readonly #sink: ChangeSink<T>;
  readonly #find: FindStored<T>;
  #replacement: Replacement<T> | undefined;
  /** Number of unreadable items of the list, whose objects are unknown. */
  #unreadable = 0;
  readonly #refusals = new Refusals();
  #hasCommitted = false;
  #resourceVersion = '';
  #status: Status | undefined;

  constructor(indexer: Indexer<T>, decoder: Decoder<T, Raw>, sink: ChangeSink<T>) {
    this.#indexer = indexer;
    this.#decoder = decoder;
    this.#sink = sink;
    this.#find = (namespace, name) => indexer.stored({ namespace, name });
  }

  /** The version of the last live event or bookmark; '' when there was none since the last commit. */
  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  /** The status of the last ERROR event. */
  get status(): Status | undefined {
    return this.#status;
  }

  /** Whether the list being read has unidentifiable items, so that deleted objects may be kept. */
  get isIncomplete(): boolean {
    return this.#unreadable > 0;
  }

  takeRefused(): number {
    return this.#refusals.take();
  }

  /** How many objects the replacement in the making holds. */
  get replacementSize(): number {
    return this.#replacement?.size ?? 0;
  }

  /** Begins a replacement; one that was begun is forgotten, so that no attempt leaves ghosts to the next. */
  begin(): void {
    this.abandon();
    this.#unreadable = 0;
    this.#refusals.take();
    this.#replacement = this.#indexer.beginReplace();
  }

  abandon(): void {
    const replacement = this.#replacement;
    if (replacement === undefined) return;
    this.#replacement = undefined;
    for (const stored of replacement.all()) this.#retireUnlessStored(stored);
  }

  /** One item of a list. */
  listItem(raw: Raw): void {
    const item = this.#decoder.item(raw, this.#find);
    if (this.#refusals.count(item)) this.#refused(item);
    else if (item.isUnreadable) this.#unreadable++;
    else if (item.failed !== undefined) this.#keepKnown(item.failed);
    else this.#fill(item);
  }

  /** One frame before the initial events have ended. */
  initialFrame(raw: Raw): FrameKind {
    const frame = this.#decoder.frame(raw, this.#find, false);
    if (isOfObject(frame) && this.#refusals.count(frame)) this.#refused(frame);
    if (frame.kind === 'upsert') this.#fill(frame);
    else if (frame.failed !== undefined) this.#keepKnown(frame.failed);
    else if (frame.kind === 'delete' && frame.stored !== undefined) {
      const removed = this.#replacement?.delete(frame.stored);
      if (removed !== undefined) this.#retireUnlessStored(removed);
      this.#decoder.retire(frame.stored);
    } else if (frame.kind === 'error') this.#status = frame.status;
    if (frame.kind === 'initial-end') this.#resourceVersion = frame.resourceVersion;
    return frame.kind;
  }

  /** One frame of the live watch. */
  liveFrame(raw: Raw): FrameKind {
    const frame = this.#decoder.frame(raw, this.#find, true);
    switch (frame.kind) {
      case 'upsert':
        this.#upsert(frame);
        break;
      case 'delete':
        this.#delete(frame);
        break;
      case 'bookmark':
      case 'initial-end':
        if (this.#advance(frame.resourceVersion)) this.#bookmark();
        break;
      case 'error':
        this.#status = frame.status;
        break;
      case 'failed':
        if (frame.failed !== undefined) this.#failed(frame.failed);
        break;
      case 'skipped':
        break;
    }
    return frame.kind;
  }

  /** The replacement becomes the store's content; then the changes are offered, slice by slice. */
  async commit(resourceVersion: string, slicer: Slicer, isEnded: () => boolean): Promise<undefined> {
    const replacement = this.#replacement;
    if (replacement === undefined) return undefined;
    this.#replacement = undefined;
    if (this.isIncomplete && !(await this.#keepMissing(replacement, slicer, isEnded))) return undefined;
    const before = replacement.commit(resourceVersion);
    this.#resourceVersion = resourceVersion;
    const isInInitialList = !this.#hasCommitted;
    this.#hasCommitted = true;
    const drain = this.#sink.beginDrain();
    this.#sink.moved();
    let sinceCheck = 0;
    for (const change of this.#differences(before, isInInitialList)) {
      if (change !== undefined) drain.offer(change);
      if (++sinceCheck < 64 || !slicer.isOver) continue;
      sinceCheck = 0;
      await slicer.breathe();
      if (isEnded()) return undefined;
    }
    drain.end();
    return undefined;
  }

  /** Deletions first, then what is new or different; undefined stands for an object that did not change. */
  *#differences(before: ReplacedContent<T>, isInInitialList: boolean): Generator<Change<T> | undefined> {
    const wasEmpty = before.size === 0;
    if (!wasEmpty) {
      for (const old of before.values()) {
        const present = this.#indexer.stored(old);
        if (present === old) continue;
        this.#decoder.retire(old);
        const isGone = present === undefined || isAnother(old, present);
        yield isGone ? new Change('delete', old, old, { finalStateUnknown: true }) : undefined;
      }
    }
    for (const stored of this.#indexer.values()) {
      const old = wasEmpty ? undefined : before.stored(stored);
      if (old === stored) yield undefined;
      else if (old === undefined || isAnother(old, stored))
        yield new Change('add', stored, undefined, isInInitialList ? initialFlags : undefined);
      else yield isSameVersion(old, stored) ? undefined : new Change('update', stored, old);
    }
  }

  #fill(item: DecodedItem<T>): void {
    const { stored, fields } = item;
    if (stored === undefined || this.#replacement === undefined) return;
    const removed = this.#replacement.put(stored, fields === undefined ? nothingKnown : { fields });
    if (removed !== undefined && removed !== stored) this.#retireUnlessStored(removed);
  }

  /** An object that does not belong here. It must not make one that does count as deleted. */
  #refused({ refused }: DecodedItem<T>): void {
    if (refused?.identity === undefined) {
      this.#unreadable++;
      return;
    }
    const known = this.#find(refused.identity.namespace, refused.identity.name);
    if (known !== undefined && this.#replacement?.stored(known) === undefined) this.#replacement?.put(known);
  }

  /** A version of a replacement could not be transformed. The object exists, so its previous version stays. */
  #keepKnown({ namespace, name, uid }: VersionIdentity): void {
    const replacement = this.#replacement;
    const known = this.#find(namespace, name);
    if (replacement === undefined || known === undefined) return;
    if (uid === '' || known.uid === '' || uid === known.uid) {
      if (replacement.stored(known) === undefined) replacement.put(known);
      return;
    }
    // A different object under the name, so the known one was deleted.
    const removed = replacement.delete(known);
    if (removed !== undefined) this.#retireUnlessStored(removed);
  }

  /**
   * An object missing from the list may be one that could not be read. A deletion is reported only for deleted objects.
   * False if the run has ended meanwhile.
   */
  async #keepMissing(replacement: Replacement<T>, slicer: Slicer, isEnded: () => boolean): Promise<boolean> {
    let sinceCheck = 0;
    for (const stored of this.#indexer.values()) {
      if (replacement.stored(stored) === undefined) replacement.put(stored);
      if (++sinceCheck < 64 || !slicer.isOver) continue;
      sinceCheck = 0;
      await slicer.breathe();
      if (isEnded()) return false;
    }
    return true;
  }

  /**
   * A live version could not be transformed. The previous version of the object stays, and the watch continues after
   * it.
   */
  #failed(identity: VersionIdentity): void {
    const { namespace, name, uid, resourceVersion } = identity;
    const old = this.#find(namespace, name);
    const isAnother = old !== undefined && uid !== '' && old.uid !== '' && old.uid !== uid;
    const isGone = isAnother && !this.#isSuperseded({ resourceVersion }, old);
    if (isGone) {
      this.#indexer.deleteStored(old);
      this.#decoder.retire(old);
    }
    this.#advance(resourceVersion);
    this.#bookmark();
    if (isGone) this.#sink.dispatch(new Change('delete', old, old, { finalStateUnknown: true }));
  }

  #upsert(frame: DecodedFrame<T>): void {
    const { stored, fields, present: old, hasPresentFields } = frame;
    if (stored === undefined) return;
    if (old === stored || (old !== undefined && this.#isSuperseded(stored, old))) {
      // Seen already, because the watch was reopened at an earlier version than the store's.
      if (old !== stored) this.#decoder.retire(stored);
      if (this.#advance(frame.resourceVersion)) this.#bookmark();
      return;
    }
    this.#indexer.putStored(
      stored,
      hasPresentFields ? presentFields : fields === undefined ? nothingKnown : { fields },
    );
    this.#advance(frame.resourceVersion);
    this.#indexer.bookmark(this.#resourceVersion);
    if (old === undefined) this.#sink.dispatch(new Change('add', stored, undefined));
    else {
      this.#decoder.retire(old);
      if (isAnother(old, stored)) {
        const end = new Change('delete', old, old, { finalStateUnknown: true });
        this.#sink.dispatch(end, new Change('add', stored, undefined));
      } else this.#sink.dispatch(new Change('update', stored, old));
    }
  }

  #delete(frame: DecodedFrame<T>): void {
    const { stored } = frame;
    if (stored === undefined) return;
    const old = this.#find(stored.namespace, stored.name);
    this.#decoder.retire(stored);
    const isOld = old !== undefined && this.#isSuperseded(stored, old);
    if (old !== undefined && !isOld) {
      this.#indexer.deleteStored(old);
      this.#decoder.retire(old);
    }
    this.#advance(frame.resourceVersion);
    this.#bookmark();
    if (old === undefined || isOld) return;
    if (isAnother(old, stored)) this.#sink.dispatch(new Change('delete', old, old, { finalStateUnknown: true }));
    else this.#sink.dispatch(new Change('delete', stored, old));
  }

  /** The store is at the version that was reached, though no handler is called. */
  #bookmark(): void {
    this.#indexer.bookmark(this.#resourceVersion);
    this.#sink.moved();
  }

  /** Versions only go forward; one that cannot be compared is accepted as sent by the server. */
  #advance(resourceVersion: string): boolean {
    if (resourceVersion === '') return false;
    if (compareResourceVersions(resourceVersion, this.#resourceVersion) === 'older') return false;
    this.#resourceVersion = resourceVersion;
    return true;
  }

  /**
   * Whether `next` is not newer than the store's version, so the event was delivered before. A version newer than the
   * collection comes from a server that has since been restored, and any event that the server sends now is newer.
   */
  #isSuperseded(next: Pick<StoredObject<T>, 'resourceVersion'>, old: StoredObject<T>): boolean {
    if (compareResourceVersions(next.resourceVersion, old.resourceVersion) !== 'older') return false;
    return compareResourceVersions(old.resourceVersion, this.#resourceVersion) !== 'newer';
  }

  #retireUnlessStored(stored: StoredObject<T>): void {
    if (this.#indexer.stored(stored) !== stored) this.#decoder.retire(stored);
  }
}

/** Whether a frame is about an object, also one that is not stored. */
function isOfObject<T extends KubeObject>({ kind }: DecodedFrame<T>): boolean {
  return kind !== 'bookmark' && kind !== 'initial-end' && kind !== 'error';
}

/** Whether two versions under one key are different objects, so that the first was deleted unseen. */
function isAnother<T extends KubeObject>(old: StoredObject<T>, next: StoredObject<T>): boolean {
  if (old instanceof LazyObject && next instanceof LazyObject) return old.isAnotherThan(next);
  const uid = old.uid;
  return uid !== '' && next.uid !== '' && uid !== next.uid;
}

function isSameVersion<T extends KubeObject>(old: StoredObject<T>, next: StoredObject<T>): boolean {
  return old.resourceVersion !== '' && old.resourceVersion === next.resourceVersion;
}
