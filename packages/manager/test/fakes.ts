import type { Client } from '@kctl/client';
import type {
  Cluster,
  Elector,
  ElectorRequest,
  EventSink,
  InformerReport,
  ManagedCache,
  Runnable,
} from '../src/index.js';
import { createCluster } from '../src/index.js';

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** What happened, in order. */
export type Journal = string[];

export class FakeCache implements ManagedCache {
  readonly synced: PromiseWithResolvers<undefined> = Promise.withResolvers<undefined>();
  reports: InformerReport[] = [];
  readonly #journal: Journal;

  constructor(journal: Journal = [], isSynced = true) {
    this.#journal = journal;
    if (isSynced) this.synced.resolve(undefined);
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#journal.push('start cache');
    await untilAborted(signal);
    this.#journal.push('stop cache');
  }

  async waitForSync(): Promise<void> {
    await this.synced.promise;
    this.#journal.push('cache synced');
  }

  informers(): InformerReport[] {
    return this.reports;
  }

  informer(): Promise<never> {
    return Promise.reject(new Error('not in this test'));
  }

  get(): Promise<never> {
    return Promise.reject(new Error('not in this test'));
  }

  list(): Promise<never> {
    return Promise.reject(new Error('not in this test'));
  }
}

export function fakeCluster(cache: ManagedCache = new FakeCache(), events?: EventSink): Cluster {
  const client = {} as Client;
  return createCluster({ client, apiReader: client, cache, ...(events === undefined ? {} : { events }) });
}

/** A runnable that writes its start and stop into the journal. */
export function journaled(journal: Journal, name: string, rest: Partial<Runnable> = {}): Runnable {
  return {
    name,
    run: async (signal) => {
      journal.push(`start ${name}`);
      await untilAborted(signal);
      journal.push(`stop ${name}`);
    },
    ...rest,
  };
}

/** An elector that a test lets win and lose. */
export class FakeElector implements Elector {
  readonly request: ElectorRequest;
  readonly #journal: Journal;
  #won = Promise.withResolvers<undefined>();
  #lose = new AbortController();
  held = false;

  constructor(request: ElectorRequest, journal: Journal = []) {
    this.request = request;
    this.#journal = journal;
  }

  win(): void {
    this.#won.resolve(undefined);
  }

  lose(): void {
    const lost = this.#lose;
    this.#lose = new AbortController();
    this.#won = Promise.withResolvers();
    lost.abort(new Error('no renewal succeeded'));
  }

  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      const won = await Promise.race([this.#won.promise.then(() => true), untilAborted(signal).then(() => false)]);
      if (!won) return;
      const lost = this.#lose.signal;
      this.held = true;
      await this.request.lead(AbortSignal.any([signal, lost]));
      this.held = false;
      this.#journal.push('lease released');
      if (signal.aborted) return;
      if (!this.request.reelect) throw new Error('leadership lost', { cause: lost.reason });
    }
  }
}
