import type { Clock } from '@kctl/wait';
import type { Store } from '../storage/store.js';

/** A request, as the journal remembers it. */
export interface JournalRequest {
  readonly type: 'request';
  /** Counts requests from 1; a response names it. */
  readonly id: number;
  readonly at: number;
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  readonly verb: string | undefined;
  readonly group: string | undefined;
  readonly resource: string | undefined;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** Whom the request was made as. */
  readonly user: string;
  /** The user that requested the impersonation. */
  readonly impersonatedBy?: string;
  readonly userAgent: string;
}

/** An answer. For a watch or a long list, the time at which it began. */
export interface JournalResponse {
  readonly type: 'response';
  /** The request that it answers. */
  readonly id: number;
  readonly at: number;
  /** 0: the connection was cut instead. */
  readonly status: number;
  /** The `Audit-Id` header of the answer, either sent by the client or a fresh one. */
  readonly auditId: string;
  /** Audit annotations of admission, from webhooks and policies, and with the changes by mutating webhooks. */
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/** A committed change. */
export interface JournalCommit {
  readonly type: 'commit';
  readonly at: number;
  readonly revision: number;
  /** `<group>/<plural>`; `/pods` for the core group. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly change: 'ADDED' | 'MODIFIED' | 'DELETED';
}

/** A fault that fired. */
export interface JournalFault {
  readonly type: 'fault';
  readonly at: number;
  /** Name of the fault. */
  readonly fault: string;
  readonly action: string;
  /** The request that it struck; 0 if it struck the server as a whole. */
  readonly request: number;
}

/** Something that happened. `at` is wall-clock time of the server's clock, in ms. */
export type JournalEntry = JournalRequest | JournalResponse | JournalCommit | JournalFault;

/** Events in order, for the assertions of tests. */
export interface Journal {
  /** All entries that are kept, oldest first. */
  entries(): readonly JournalEntry[];
  requests(): readonly JournalRequest[];
  responses(): readonly JournalResponse[];
  commits(): readonly JournalCommit[];
  faults(): readonly JournalFault[];
  /** How many entries were dropped because more than the limit came. */
  readonly dropped: number;
  clear(): void;
}

/** An entry without what the journal itself fills in. */
export type NewEntry = JournalEntry extends infer E ? (E extends JournalEntry ? Omit<E, 'at'> : never) : never;

/** The journal with its writing side. */
export interface WritableJournal extends Journal {
  add(entry: NewEntry): void;
  /** Number of the next request. */
  nextId(): number;
}

/** Options of {@link createJournal}. */
export interface JournalOptions {
  readonly clock: Clock;
  /** How many entries are kept. @default 50000 */
  readonly limit?: number;
}

export function createJournal({ clock, limit = 50_000 }: JournalOptions): WritableJournal {
  let entries: JournalEntry[] = [];
  let dropped = 0;
  let requests = 0;
  return {
    entries: () => [...entries],
    requests: () => entries.filter((entry) => entry.type === 'request'),
    responses: () => entries.filter((entry) => entry.type === 'response'),
    commits: () => entries.filter((entry) => entry.type === 'commit'),
    faults: () => entries.filter((entry) => entry.type === 'fault'),
    get dropped() {
      return dropped;
    },
    clear() {
      entries = [];
      dropped = 0;
    },
    nextId: () => ++requests,
    add(entry) {
      if (limit === 0) return;
      entries.push({ ...entry, at: clock.now() });
      if (entries.length < limit * 1.25) return;
      dropped += entries.length - limit;
      entries = entries.slice(-limit);
    },
  };
}

/** Notes every commit of a store. Returns the function that ends it. */
export function journalCommits(journal: WritableJournal, store: Store): () => void {
  return store.subscribe(({ revision, table, key, type }) => {
    const slash = key.indexOf('/');
    journal.add({
      type: 'commit',
      revision,
      resource: table,
      namespace: slash < 0 ? '' : key.slice(0, slash),
      name: key.slice(slash + 1),
      change: type,
    });
  });
}
