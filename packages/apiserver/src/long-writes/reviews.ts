/** The thread of the server answers the queries of the reviews of a long write. */
import { anySignal, type AbortLink } from '@kctl/wait';
import { isObject, jsonText, objectOf } from '@kctl/crd/internal/engine';
import { reviewTables } from '../admission/reviews.js';
import type { Attributes } from '../authorization/attributes.js';
import { isReviewed, writeTimeoutMs } from '../handlers/admission.js';
import { crdTable, type Backend, type ResourceCall } from '../handlers/call.js';
import { createAttributes } from '../handlers/create-right.js';
import { timedOut } from '../protocol/http-statuses.js';
import { callOutcome } from '../long-reads/call-outcome.js';
import type { Asked, AskedCall, CallOutcome, ReviewFacts, TextRecord } from '../offload/long-write.js';

/** Objects of a table that are handed over; with more of them the write takes place in this thread. */
const maxObjects = 500;

/** A write that is prepared elsewhere, with its deadline and the answers to its questions. */
export class Reviews implements Disposable {
  readonly #backend: Backend;
  readonly #isReviewed: boolean;
  /** Requested tables, with the objects that the last run had, by key and revision. */
  readonly #asked = new Map<string, ReadonlyMap<string, number>>();
  readonly #outcomes: CallOutcome[];
  #uids: readonly string[];
  readonly #decisions: Record<string, ReviewFacts['decisions'][string]> = {};
  readonly #link: AbortLink;
  readonly #timer: { cancel(): void };
  readonly #endsAt: number;

  /** `noted`: what webhooks have answered before the write turned out to be long. */
  constructor(backend: Backend, call: ResourceCall, noted: Pick<ReviewFacts, 'outcomes' | 'uids'>) {
    this.#backend = backend;
    this.#outcomes = [...noted.outcomes];
    this.#uids = noted.uids;
    this.#isReviewed = isReviewed(backend, call) || call.definition.conversion !== undefined;
    // A PUT or PATCH may turn out to create.
    if (call.request.method !== 'POST') this.#decide(createAttributes(call));
    this.#link = anySignal([call.request.signal]);
    const timeoutMs = writeTimeoutMs(call);
    this.#endsAt = backend.clock.monotonicNow() + timeoutMs;
    const late = timedOut();
    this.#timer = backend.clock.setTimer(() => this.#link.abort(late), timeoutMs, { keepAlive: false });
  }

  /** Aborted at the deadline, with its Status, and when the client has gone. */
  get signal(): AbortSignal {
    return this.#link.signal;
  }

  get remainingMs(): number {
    return Math.max(0, this.#endsAt - this.#backend.clock.monotonicNow());
  }

  /** Facts that are sent with the job. */
  facts(): ReviewFacts {
    for (const table of this.#asked.keys()) this.#asked.set(table, this.#revisions(table));
    const tables = [...(this.#isReviewed ? reviewTables : []), ...this.#asked.keys()];
    const records = tables.flatMap((table) => this.#records(table));
    return {
      isReviewed: this.#isReviewed,
      records: [...records, ...this.#parameterDefinitions()],
      tables,
      outcomes: this.#outcomes,
      uids: this.#uids,
      decisions: this.#decisions,
    };
  }

  /** Whether the requested tables are as the last run had them. */
  isCurrent(): boolean {
    for (const [table, known] of this.#asked) {
      const now = this.#revisions(table);
      if (now.size !== known.size || [...now].some(([key, revision]) => known.get(key) !== revision)) return false;
    }
    return true;
  }

  /** Restarts the write from the beginning; webhooks are called again. */
  reset(): void {
    this.#outcomes.length = 0;
    this.#uids = [];
  }

  /** Whether all questions have been answered; else the write takes place in this thread. */
  async answer({ calls, decisions, tables }: Asked): Promise<boolean> {
    const { store } = this.#backend;
    for (const table of tables) {
      if (store.table(table).size > maxObjects) return false;
      this.#asked.set(table, new Map());
    }
    for (const attributes of decisions) this.#decide(attributes);
    await Promise.all(calls.map((call) => this.#call(call)));
    this.signal.throwIfAborted();
    return true;
  }

  #decide(attributes: Attributes): void {
    this.#decisions[jsonText(attributes)] = this.#backend.access.authorizer.authorize(attributes);
  }

  async #call(call: AskedCall): Promise<void> {
    this.#outcomes.push(await callOutcome(this.#backend.webhooks, call, this.signal));
  }

  #revisions(table: string): ReadonlyMap<string, number> {
    return new Map(Array.from(this.#backend.store.table(table).scan({}), ([key, { revision }]) => [key, revision]));
  }

  #records(table: string): TextRecord[] {
    return [...this.#revisions(table).keys()].flatMap((key) => this.#record(table, key));
  }

  #record(table: string, key: string): TextRecord[] {
    const version = this.#backend.store.table(table).get(key);
    return version === undefined ? [] : [{ table, key, revision: version.revision, text: version.text }];
  }

  /** Custom resources whose objects are parameters. Without their definitions a policy takes them for unknown. */
  #parameterDefinitions(): TextRecord[] {
    const { registry, store } = this.#backend;
    const names = new Set<string>();
    for (const table of reviewTables)
      for (const [, { object }] of store.table(table).scan({})) {
        const { paramKind } = objectOf(object['spec']);
        if (!isObject(paramKind)) continue;
        const { apiVersion, kind } = paramKind;
        const found = registry.list().find((each) => each.apiVersion === apiVersion && each.kind === kind);
        if (found?.isCustom === true) names.add(`${found.plural}.${found.group}`);
      }
    return [...names].flatMap((name) => this.#record(crdTable, name));
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
    this.#link[Symbol.dispose]();
  }
}
