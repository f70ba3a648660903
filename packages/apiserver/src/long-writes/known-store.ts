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

/** A table of which single objects are known, and not which others there are: to go through all of them fails. */
class KnownTable implements Table {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  get name(): string {
    return this.#table.name;
  }

  get floor(): number {
    return this.#table.floor;
  }

  get size(): number {
    throw this.#partial();
  }

  get(key: string): ObjectVersion | undefined {
    return this.#table.get(key);
  }

  getAt(key: string, revision: number): ObjectVersion | undefined {
    return this.#table.getAt(key, revision);
  }

  scan(_options: ScanOptions): never {
    throw this.#partial();
  }

  count(_options: ScanOptions): never {
    throw this.#partial();
  }

  eventsAfter(revision: number): number {
    return this.#table.eventsAfter(revision);
  }

  eventAt(index: number): StoreEvent | undefined {
    return this.#table.eventAt(index);
  }

  #partial(): UnknownHereError {
    return new UnknownHereError(`all of table ${JSON.stringify(this.name)}`);
  }
}

/** A store of which single objects of some tables are known: to look at another table, or through one, fails. */
export class KnownStore implements Store {
  readonly #store: Store;
  readonly #known: ReadonlySet<string>;

  constructor(store: Store, known: Iterable<string>) {
    this.#store = store;
    this.#known = new Set(known);
  }

  get revision(): number {
    return this.#store.revision;
  }

  table(name: string): Table {
    if (!this.#known.has(name)) throw new UnknownHereError(`table ${JSON.stringify(name)}`);
    return new KnownTable(this.#store.table(name));
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
