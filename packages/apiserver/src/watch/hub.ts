import type { UntypedObject } from '@kctl/apimachinery';
import type { Store } from '../storage/store.js';
import type { StoreEvent } from '../storage/table.js';
import type { ObjectVersion } from '../storage/version.js';
import { isReady, makeReady, type ReadyTerms } from './readiness.js';
import type { EventType, WatchShape } from '../codecs/shape.js';

/** Which objects a watch is about. */
export interface WatchScope {
  readonly table: string;
  /** `namespace/` to watch one namespace, '' for all. */
  readonly prefix: string;
  /** The only key that can match, if the selector names it. */
  readonly key?: string;
  /** String of the selectors. Equal strings match equally. */
  readonly selector: string;
  /** Whether an object, as the watched version shows it, is selected. If absent, all are. */
  readonly matches?: (object: UntypedObject) => boolean;
}

/** An event as one watch sees it. */
export interface WatchChange {
  readonly type: EventType;
  readonly version: ObjectVersion;
  readonly revision: number;
}

/** Some events at once, in revision order; the bytes are made once and shared by all watchers. */
export interface WatchBatch {
  readonly changes: readonly WatchChange[];
  readonly bytes: Uint8Array;
}

/** A watcher that has caught up with the present. */
export interface WatchMember {
  deliver(batch: WatchBatch): void;
  /** Ends the stream properly, because the watched resource is no longer served, or in another way. */
  end(): void;
}

/** Distributes committed events to watchers. */
export interface WatchHub {
  /** From the present revision on. Returns the function that leaves. */
  join(member: WatchMember, scope: WatchScope, shape: WatchShape): () => void;
  /** How an event looks to a watch; undefined when it does not concern it. */
  see(event: StoreEvent, scope: WatchScope, shape: WatchShape): WatchChange | undefined;
  /** Ends all watches of a table. */
  end(table: string): void;
  /** How many watchers there are. */
  readonly size: number;
  close(): void;
}

/** Helpers that a hub needs to make states ready. */
export type WatchHelpers = Pick<ReadyTerms, 'clock' | 'offload'>;

/**
 * Appearance of an event through a selector. Entering is ADDED, leaving is DELETED with the old object under the new
 * revision.
 */
export function seeThrough(event: StoreEvent, scope: WatchScope, shape: WatchShape): WatchChange | undefined {
  const { type, current, previous, revision } = event;
  const { matches } = scope;
  if (matches === undefined) return { type, version: current, revision };
  const isSelected = (version: ObjectVersion | undefined): boolean =>
    version !== undefined && matches(version.in(shape.definition).object);
  const was = type !== 'ADDED' && isSelected(previous);
  const is = type !== 'DELETED' && isSelected(current);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', version: current, revision };
  if (!was || previous === undefined) return undefined;
  return { type: 'DELETED', version: type === 'DELETED' ? current : previous.at(revision), revision };
}

/** The states that {@link seeThrough} looks at. */
export function statesOf({ type, current, previous }: StoreEvent, { matches }: WatchScope): readonly ObjectVersion[] {
  return matches === undefined || previous === undefined || type === 'ADDED' ? [current] : [current, previous];
}

/** All watchers of the same scope and shape, which share one evaluation and one buffer. */
class View {
  readonly #scope: WatchScope;
  readonly #shape: WatchShape;
  readonly members = new Set<WatchMember>();
  readonly #helpers: WatchHelpers;
  readonly #onDue: (view: View) => void;
  #pending: WatchChange[] = [];
  /** Events that wait for a conversion webhook or for another thread, and all after them. */
  #waiting: StoreEvent[] = [];

  constructor(
    scope: WatchScope,
    shape: WatchShape,
    { helpers, onDue }: { readonly helpers: WatchHelpers; readonly onDue: (view: View) => void },
  ) {
    this.#scope = scope;
    this.#shape = shape;
    this.#helpers = helpers;
    this.#onDue = onDue;
  }

  /** Takes an event; answers whether it made the view due for a flush. */
  take(event: StoreEvent): boolean {
    const isWaiting = this.#waiting.length > 0;
    if (!isWaiting && statesOf(event, this.#scope).every((version) => isReady(this.#shape, version)))
      return this.#see(event);
    this.#waiting.push(event);
    if (!isWaiting) void this.#makeReady();
    return false;
  }

  /** Makes ready what waits, in order. A webhook that goes on failing ends the watches, as upstream's when their cache is filled anew. */
  async #makeReady(): Promise<void> {
    while (this.#waiting.length > 0) {
      const events = [...this.#waiting];
      const states = events.flatMap((event) => statesOf(event, this.#scope));
      const terms = { ...this.#helpers, isWanted: () => this.members.size > 0 };
      if (!(await makeReady(this.#shape, states, terms))) {
        this.#waiting = [];
        for (const member of [...this.members]) member.end();
        return;
      }
      this.#waiting.splice(0, events.length);
      for (const event of events) if (this.#see(event)) this.#onDue(this);
    }
  }

  #see(event: StoreEvent): boolean {
    const change = seeThrough(event, this.#scope, this.#shape);
    if (change === undefined) return false;
    this.#pending.push(change);
    return this.#pending.length === 1;
  }

  flush(lines: LineCache): void {
    if (this.#pending.length === 0) return;
    const batch = createBatch(this.#pending, (change) => lines.get(change, this.#shape));
    this.#pending = [];
    for (const member of [...this.members]) member.deliver(batch);
  }
}

function createBatch(changes: readonly WatchChange[], lineOf: (change: WatchChange) => Uint8Array): WatchBatch {
  const lines = changes.map(lineOf);
  const [only] = lines;
  return { changes, bytes: lines.length === 1 && only !== undefined ? only : Buffer.concat(lines) };
}

/** Lines made since the last turn of the event loop, shared by views with other selectors but the same shape. */
class LineCache {
  readonly #lines = new Map<string, Map<ObjectVersion, Uint8Array>>();

  get(change: WatchChange, shape: WatchShape): Uint8Array {
    const id = `${change.type} ${shape.id}`;
    let byVersion = this.#lines.get(id);
    if (byVersion === undefined) {
      byVersion = new Map();
      this.#lines.set(id, byVersion);
    }
    let line = byVersion.get(change.version);
    if (line === undefined) {
      line = shape.event(change.type, change.version, false);
      byVersion.set(change.version, line);
    }
    return line;
  }

  clear(): void {
    this.#lines.clear();
  }
}

class MemoryHub implements WatchHub {
  /** Views by `table\nscope` and by view id. */
  readonly #views = new Map<string, Map<string, View>>();
  readonly #due = new Set<View>();
  readonly #lines = new LineCache();
  readonly #helpers: WatchHelpers;
  readonly #unsubscribe: () => void;
  #isScheduled = false;
  #size = 0;

  constructor(store: Store, helpers: WatchHelpers) {
    this.#helpers = helpers;
    this.#unsubscribe = store.subscribe((event) => {
      this.#dispatch(event);
    });
  }

  get size(): number {
    return this.#size;
  }

  see(event: StoreEvent, scope: WatchScope, shape: WatchShape): WatchChange | undefined {
    const isInScope = scope.key === undefined ? event.key.startsWith(scope.prefix) : event.key === scope.key;
    return isInScope ? seeThrough(event, scope, shape) : undefined;
  }

  join(member: WatchMember, scope: WatchScope, shape: WatchShape): () => void {
    const place = `${scope.table}\n${scope.key === undefined ? scope.prefix : `=${scope.key}`}`;
    const id = `${shape.id}\n${scope.selector}`;
    let views = this.#views.get(place);
    if (views === undefined) {
      views = new Map();
      this.#views.set(place, views);
    }
    let view = views.get(id);
    if (view === undefined) {
      const onDue = (due: View): void => {
        this.#due.add(due);
        this.#schedule();
      };
      view = new View(scope, shape, { helpers: this.#helpers, onDue });
      views.set(id, view);
    }
    view.flush(this.#lines);
    view.members.add(member);
    this.#size++;
    return () => {
      if (!view.members.delete(member)) return;
      this.#size--;
      if (view.members.size > 0) return;
      if (views.get(id) === view) views.delete(id);
      if (views.size === 0 && this.#views.get(place) === views) this.#views.delete(place);
    };
  }

  end(table: string): void {
    for (const [place, views] of [...this.#views]) {
      if (!place.startsWith(`${table}\n`)) continue;
      for (const view of [...views.values()]) {
        view.flush(this.#lines);
        for (const member of [...view.members]) member.end();
      }
    }
  }

  close(): void {
    this.#unsubscribe();
    this.#views.clear();
  }

  #dispatch(event: StoreEvent): void {
    const { table, key } = event;
    const slash = key.indexOf('/');
    this.#offer(`${table}\n`, event);
    if (slash >= 0) this.#offer(`${table}\n${key.slice(0, slash + 1)}`, event);
    this.#offer(`${table}\n=${key}`, event);
  }

  #offer(place: string, event: StoreEvent): void {
    const views = this.#views.get(place);
    if (views === undefined) return;
    for (const view of views.values()) {
      if (view.members.size === 0 || !view.take(event)) continue;
      this.#due.add(view);
      this.#schedule();
    }
  }

  /** Runs once per turn, so that commits of one turn go out in one write to each watcher. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const due = [...this.#due];
      this.#due.clear();
      for (const view of due) view.flush(this.#lines);
      this.#lines.clear();
    });
  }
}

/** A hub that is fed by a store. */
export function createWatchHub(store: Store, helpers: WatchHelpers): WatchHub {
  return new MemoryHub(store, helpers);
}
