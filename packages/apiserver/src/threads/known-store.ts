import type { LogRecord, Store, StoreSnapshot } from '../storage/store.js';
import type { ScanOptions, StoreEvent, Table } from '../storage/table.js';
import type { ObjectVersion } from '../storage/version.js';

/** A write needs more of the server than it was given. */
export class UnknownHereError extends Error {
  override readonly name = 'UnknownHereError';

  constructor(what: string) {
    super(`${what} is not known in this thread`);
  }
}

/** A table of which only single objects are known, so going through all of them fails. */
class KnownTable implements Table {
  readonly #table: Table;
  readonly #fail: () => never;

  constructor(table: Table, fail: () => never) {
    this.#table = table;
    this.#fail = fail;
  }

  get name(): string {
    return this.#table.name;
  }

  get floor(): number {
    return this.#table.floor;
  }

  get size(): number {
    return this.#fail();
  }

  get(key: string): ObjectVersion | undefined {
    return this.#table.get(key);
  }

  getAt(key: string, revision: number): ObjectVersion | undefined {
    return this.#table.getAt(key, revision);
  }

  scan(_options: ScanOptions): never {
    return this.#fail();
  }

  count(_options: ScanOptions): never {
    return this.#fail();
  }

  eventsAfter(revision: number): number {
    return this.#table.eventsAfter(revision);
  }

  eventAt(index: number): StoreEvent | undefined {
    return this.#table.eventAt(index);
  }
}

/** Content of a {@link KnownStore}. */
export interface KnownTables {
  /** Tables of which single objects are known. */
  readonly partial: readonly string[];
  /** Tables of which all objects are known. */
  readonly whole: readonly string[];
  /** A write looked through a table of which not all is known. */
  readonly onUnknown: (table: string) => void;
}

/** A store of which a part is known. Reading another table, or going through one that is not known whole, fails. */
export class KnownStore implements Store {
  readonly #store: Store;
  readonly #partial: ReadonlySet<string>;
  readonly #whole: ReadonlySet<string>;
  readonly #onUnknown: (table: string) => void;

  constructor(store: Store, { partial, whole, onUnknown }: KnownTables) {
    this.#store = store;
    this.#partial = new Set(partial);
    this.#whole = new Set(whole);
    this.#onUnknown = onUnknown;
  }

  get revision(): number {
    return this.#store.revision;
  }

  table(name: string): Table {
    const table = this.#store.table(name);
    if (this.#whole.has(name)) return table;
    const fail = (): never => {
      this.#onUnknown(name);
      throw new UnknownHereError(`all of table ${JSON.stringify(name)}`);
    };
    return this.#partial.has(name) ? new KnownTable(table, fail) : fail();
  }

  commit(...commit: Parameters<Store['commit']>): StoreEvent {
    return this.#store.commit(...commit);
  }

  compact(revision?: number): number {
    return this.#store.compact(revision);
  }

  pin(revision: number): () => void {
    return this.#store.pin(revision);
  }

  subscribe(listener: (event: StoreEvent) => void): () => void {
    return this.#store.subscribe(listener);
  }

  snapshot(): StoreSnapshot {
    return this.#store.snapshot();
  }

  restore(snapshot: StoreSnapshot): void {
    this.#store.restore(snapshot);
  }

  replay(record: LogRecord): void {
    this.#store.replay(record);
  }

  raiseFloor(): void {
    this.#store.raiseFloor();
  }

  tables(): Iterable<Table> {
    return this.#store.tables();
  }
}
