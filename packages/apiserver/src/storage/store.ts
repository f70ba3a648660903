import type { UntypedObject } from '@kctl/apimachinery';
import type { Clock } from '@kctl/wait';
import { createDeque } from './deque.js';
import { LostRaceError } from './errors.js';
import { createTable, type StoreEvent, type Table, type WritableTable } from './table.js';
import { createVersion, withRevision, type ObjectVersion } from './version.js';

/** One line of the log, which is an object at a revision, or its deletion. */
export interface LogRecord {
  readonly revision: number;
  readonly table: string;
  readonly key: string;
  /** Absent: deleted. */
  readonly object?: UntypedObject;
}

/** All live objects of a store at one revision. */
export interface StoreSnapshot {
  readonly revision: number;
  readonly records: readonly LogRecord[];
}

/** Options of {@link createStore}. */
export interface StoreOptions {
  readonly clock: Clock;
  /** How many events are kept for watches and old reads, over all tables. @default 100000 */
  readonly historyEvents?: number;
  /** How long events are kept, in ms. @default 300000, etcd's compaction interval */
  readonly historyMs?: number;
  /** Called before each commit takes effect; throwing refuses the commit. */
  readonly writeAhead?: (record: LogRecord) => void;
}

/** State to write, and the condition for it. */
export interface Commit {
  readonly table: string;
  readonly key: string;
  /** Revision of the version that the writer has seen; 0: the object must not exist. */
  readonly expected: number;
  /** The new state; its resourceVersion is set here. If absent, deletes. The object is frozen. */
  readonly object?: UntypedObject;
  /** Called with the new state before anything else; throwing refuses the commit. */
  readonly check?: (current: ObjectVersion) => void;
}

/**
 * Objects of all resources with their history under one revision counter, as etcd keeps them. A commit is one
 * synchronous step that compares, writes ahead, applies, and notifies the listeners.
 */
export interface Store {
  readonly revision: number;
  /** The table of a resource, made on first use. */
  table(name: string): Table;
  /** @throws LostRaceError when the object is at another revision than expected */
  commit(commit: Commit): StoreEvent;
  /**
   * Forgets history up to a revision (all by default), except for revisions that pins hold. Returns the revision
   * reached.
   */
  compact(revision?: number): number;
  /** Keeps the state at `revision` readable until the returned function is called. */
  pin(revision: number): () => void;
  /** Calls back after each commit, synchronously, in revision order. */
  subscribe(listener: (event: StoreEvent) => void): () => void;
  snapshot(): StoreSnapshot;
  /** Puts the live state back to a snapshot. The counter goes on, all history is forgotten. */
  restore(snapshot: StoreSnapshot): void;
  /** Applies records of a log to a store that is being filled, without writing ahead or calling listeners. */
  replay(record: LogRecord): void;
  /** Marks all history before the present as unknown, for every table. */
  raiseFloor(): void;
  tables(): Iterable<Table>;
}

class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #historyEvents: number;
  readonly #historyMs: number;
  readonly #writeAhead: ((record: LogRecord) => void) | undefined;
  #revision = 1;
  #tables = new Map<string, WritableTable>();
  /** Oldest first, with the table that holds the event that is dropped next. */
  readonly #history = createDeque<{ readonly table: WritableTable; readonly event: StoreEvent }>();
  readonly #listeners = new Set<(event: StoreEvent) => void>();
  readonly #pins = new Map<symbol, number>();
  readonly #untold = createDeque<StoreEvent>();

  constructor(options: StoreOptions) {
    this.#clock = options.clock;
    this.#historyEvents = options.historyEvents ?? 100_000;
    this.#historyMs = options.historyMs ?? 300_000;
    this.#writeAhead = options.writeAhead;
  }

  get revision(): number {
    return this.#revision;
  }

  table(name: string): WritableTable {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = createTable(name, this.#revision);
      this.#tables.set(name, table);
    }
    return table;
  }

  tables(): Iterable<Table> {
    return this.#tables.values();
  }

  commit({ table: name, key, expected, object, check }: Commit): StoreEvent {
    const actual = this.table(name).get(key)?.revision ?? 0;
    if (actual !== expected) throw new LostRaceError(key, { expected, actual });
    const revision = this.#revision + 1;
    const stored = object === undefined ? undefined : withRevision(object, revision);
    const record: LogRecord = { revision, table: name, key, ...(stored !== undefined && { object: stored }) };
    const next = stored === undefined ? undefined : createVersion(revision, stored);
    if (next !== undefined) check?.(next);
    this.#writeAhead?.(record);
    const event = this.#apply(record, next);
    this.#forgetOld();
    this.#announce(event);
    return event;
  }

  /** A listener may commit. Its event is delivered after the present one, so that all listeners see one order. */
  #announce(event: StoreEvent): void {
    this.#untold.push(event);
    if (this.#untold.length > 1) return;
    for (let next = this.#untold.at(0); next !== undefined; next = this.#untold.at(0)) {
      try {
        for (const listener of this.#listeners) listener(next);
      } finally {
        this.#untold.shift();
      }
    }
  }

  replay(record: LogRecord): void {
    if (record.object === undefined && this.table(record.table).get(record.key) === undefined) {
      this.#revision = Math.max(this.#revision, record.revision);
      return;
    }
    this.#apply(record);
    this.#forgetOld();
  }

  compact(revision: number = this.#revision): number {
    const target = Math.min(revision, this.#revision, ...this.#pins.values());
    for (
      let head = this.#history.at(0);
      head !== undefined && head.event.revision <= target;
      head = this.#history.at(0)
    )
      this.#dropOldest(target);
    for (const table of this.#tables.values()) table.raiseFloor(target);
    return target;
  }

  pin(revision: number): () => void {
    const pin = Symbol('pin');
    this.#pins.set(pin, revision);
    return () => {
      this.#pins.delete(pin);
    };
  }

  subscribe(listener: (event: StoreEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  snapshot(): StoreSnapshot {
    const records: LogRecord[] = [];
    for (const table of this.#tables.values()) {
      for (const [key, { revision, object }] of table.scan({}))
        records.push({ revision, table: table.name, key, object });
    }
    return { revision: this.#revision, records: records.sort((a, b) => a.revision - b.revision) };
  }

  restore(snapshot: StoreSnapshot): void {
    const revision = Math.max(this.#revision, snapshot.revision) + 1;
    this.#tables = new Map();
    this.#history.clear();
    this.#pins.clear();
    this.#revision = 1;
    for (const record of snapshot.records) this.#apply(record);
    this.#revision = revision;
    this.raiseFloor();
  }

  raiseFloor(): void {
    this.compact();
  }

  #apply({ revision, table: name, key, object }: LogRecord, next?: ObjectVersion): StoreEvent {
    const table = this.table(name);
    const previous = table.get(key);
    const current =
      object === undefined
        ? (previous?.at(revision) ?? createVersion(revision, withRevision({ metadata: {} }, revision)))
        : (next ?? createVersion(revision, object));
    const type = object === undefined ? 'DELETED' : previous === undefined ? 'ADDED' : 'MODIFIED';
    const event: StoreEvent = { revision, table: name, key, type, current, previous, at: this.#clock.monotonicNow() };
    this.#revision = Math.max(this.#revision, revision);
    table.append(event);
    this.#history.push({ table, event });
    return event;
  }

  #forgetOld(): void {
    const oldest = this.#clock.monotonicNow() - this.#historyMs;
    const bound = this.#pins.size === 0 ? this.#revision : Math.min(this.#revision, ...this.#pins.values());
    for (let head = this.#history.at(0); head !== undefined; head = this.#history.at(0)) {
      const isOld = this.#history.length > this.#historyEvents || head.event.at < oldest;
      if (!isOld || head.event.revision > bound) return;
      this.#dropOldest(head.event.revision);
    }
  }

  #dropOldest(target: number): void {
    const head = this.#history.shift();
    if (head === undefined) return;
    head.table.dropEvent();
    head.table.trim(head.event.key, target);
  }
}

/** An empty store at revision 1. */
export function createStore(options: StoreOptions): Store {
  return new MemoryStore(options);
}
