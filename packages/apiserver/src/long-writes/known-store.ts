import type { LogRecord, Store, StoreSnapshot } from '../storage/store.js';
import type { StoreEvent, Table } from '../storage/table.js';

/** A write looked at a table that it was not given. */
export class UnknownTableError extends Error {
  override readonly name = 'UnknownTableError';

  constructor(table: string) {
    super(`table ${JSON.stringify(table)} is not known in this thread`);
  }
}

/** A store of which some tables are known: to look at another one fails. */
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
    if (!this.#known.has(name)) throw new UnknownTableError(name);
    return this.#store.table(name);
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
