// The two queues as plain lists: what each operation means, without a thought for cost, waiting or turns.
import type { Delta, DeletedDelta } from '../../src/index.js';

export interface Item {
  readonly name: string;
  readonly value: number;
}
export type ItemDelta = Delta<Item>;
type Present = Exclude<ItemDelta, DeletedDelta<Item>>['type'];

/** What a reflector, or whatever feeds a queue, does. */
export interface Feed {
  add(item: Item): void;
  update(item: Item): void;
  delete(item: Item | { readonly tombstoneOf: string; readonly object: Item | undefined }): void;
  replace(items: readonly Item[], version: string, info: { readonly isIncomplete: boolean }): void;
  resync(): void;
}

/** What both have in common: deltas that wait, some that are in process, and what the consumer has. */
abstract class QueueModel implements Feed {
  waiting: ItemDelta[] = [];
  inProcess: readonly ItemDelta[] = [];
  readonly known: Map<string, Item> = new Map();
  hasBegun = false;
  /** How many pops, or deltas, the first replacement still needs. */
  initial = 0;

  get hasSynced(): boolean {
    return this.hasBegun && this.initial === 0;
  }

  add(item: Item): void {
    this.present('Added', item);
  }

  update(item: Item): void {
    this.present('Updated', item);
  }

  resync(): void {
    for (const [key, object] of this.known)
      if (this.lastOf(key) === undefined) this.enqueue({ type: 'Sync', key, object });
  }

  abstract delete(item: Parameters<Feed['delete']>[0]): void;
  abstract replace(items: readonly Item[], version: string, info: { readonly isIncomplete: boolean }): void;
  protected abstract enqueue(delta: ItemDelta): void;

  protected present(type: Present, object: Item): void {
    this.enqueue({ type, key: object.name, object });
    this.hasBegun = true;
  }

  protected deletionOf(item: Parameters<Feed['delete']>[0]): ItemDelta {
    return 'tombstoneOf' in item
      ? { type: 'Deleted', key: item.tombstoneOf, object: item.object, finalStateUnknown: true }
      : { type: 'Deleted', key: item.name, object: item, finalStateUnknown: false };
  }

  /** The newest that was said of an object and that the consumer does not have yet. */
  protected lastOf(key: string): ItemDelta | undefined {
    return [...this.inProcess, ...this.waiting].findLast((delta) => delta.key === key);
  }
}

/** DeltaFIFO: pops all deltas of the object that waits longest. */
export class GroupedModel extends QueueModel {
  /** Keys, as they are going to be popped. */
  order: string[] = [];

  deltasOf(key: string): ItemDelta[] {
    return this.waiting.filter((delta) => delta.key === key);
  }

  delete(item: Parameters<Feed['delete']>[0]): void {
    this.hasBegun = true;
    const delta = this.deletionOf(item);
    const isThere = this.order.includes(delta.key) || this.#isOrWillBeThere(delta.key);
    if (isThere) this.enqueue(delta);
  }

  replace(items: readonly Item[], _version: string, { isIncomplete }: { readonly isIncomplete: boolean }): void {
    const listed = new Set(items.map(({ name }) => name));
    const before = [...new Set([...this.order, ...this.inProcess.map(({ key }) => key), ...this.known.keys()])];
    const gone = before.filter(
      (key) => !listed.has(key) && !isIncomplete && (this.order.includes(key) || this.#isOrWillBeThere(key)),
    );
    for (const object of items) this.enqueue({ type: 'Replaced', key: object.name, object });
    for (const key of gone) {
      const object = this.lastOf(key) === undefined ? this.known.get(key) : this.lastOf(key)?.object;
      this.enqueue({ type: 'Deleted', key, object, finalStateUnknown: true });
    }
    if (!this.hasBegun) this.initial = listed.size + gone.length;
    this.hasBegun = true;
  }

  /** Takes what is popped next. */
  begin(): boolean {
    const key = this.order.shift();
    if (key === undefined) return false;
    this.inProcess = this.deltasOf(key);
    this.waiting = this.waiting.filter((delta) => delta.key !== key);
    return true;
  }

  end(isInitial: boolean, isRequeued: boolean): void {
    const { inProcess } = this;
    const [{ key } = { key: '' }] = inProcess;
    this.inProcess = [];
    if (isInitial) this.initial--;
    if (!isRequeued) return;
    const since = this.deltasOf(key);
    this.waiting = this.waiting.filter((delta) => delta.key !== key);
    for (const delta of [...inProcess, ...since]) this.enqueue(delta);
  }

  #isOrWillBeThere(key: string): boolean {
    const last = this.lastOf(key);
    return last === undefined ? this.known.has(key) : last.type !== 'Deleted';
  }

  protected enqueue(delta: ItemDelta): void {
    if (!this.order.includes(delta.key)) this.order.push(delta.key);
    const before = this.waiting.findLastIndex(({ key }) => key === delta.key);
    const last = this.waiting[before];
    if (last?.type !== 'Deleted' || delta.type !== 'Deleted') {
      this.waiting.push(delta);
      return;
    }
    const detail = (one: DeletedDelta<Item>): number =>
      one.finalStateUnknown ? (one.object === undefined ? 0 : 1) : 2;
    if (detail(delta) >= detail(last)) this.waiting[before] = delta;
  }
}

/** RealFIFO: each delta has its own place. */
export class OrderedModel extends QueueModel {
  delete(item: Parameters<Feed['delete']>[0]): void {
    this.enqueue(this.deletionOf(item));
    this.hasBegun = true;
  }

  replace(items: readonly Item[], _version: string, { isIncomplete }: { readonly isIncomplete: boolean }): void {
    const listed = new Set(items.map(({ name }) => name));
    const seen = new Set([...this.inProcess, ...this.waiting].map(({ key }) => key));
    for (const key of isIncomplete ? [] : [...seen, ...new Set(this.known.keys()).difference(seen)]) {
      const last = this.lastOf(key);
      if (listed.has(key) || last?.type === 'Deleted') continue;
      const object = last === undefined ? this.known.get(key) : last.object;
      this.enqueue({ type: 'Deleted', key, object, finalStateUnknown: true });
    }
    for (const object of items) this.enqueue({ type: 'Replaced', key: object.name, object });
    if (!this.hasBegun) this.initial = this.waiting.length;
    this.hasBegun = true;
  }

  /** Takes what is popped next: one, or what goes together. */
  begin(most: number): boolean {
    const limit = this.initial > 0 ? Math.min(most, this.initial) : most;
    const keys = new Set<string>();
    while (keys.size < limit) {
      const next = this.waiting[keys.size];
      if (next === undefined || keys.has(next.key)) break;
      keys.add(next.key);
    }
    this.inProcess = this.waiting.splice(0, keys.size);
    return keys.size > 0;
  }

  end(initial: number): void {
    this.initial -= initial;
    this.inProcess = [];
  }

  protected enqueue(delta: ItemDelta): void {
    this.waiting.push(delta);
  }
}
