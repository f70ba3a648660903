import type { ReplicaHost } from '../replica/replica-host.js';
import type { Scope } from '../scope.js';
import { isWitnessable, type WitnessedCache } from './handler-history.js';
import { OwnHandlers } from './own-handlers.js';
import { Witnesses, type WitnessOptions } from './witness.js';

/** How long a handler may take for one event before what came meanwhile counts as never given to it, in ms. */
const busyMs = 60_000;
const pollMs = 100;

interface Watched {
  readonly cache: WitnessedCache;
  readonly witnesses: Witnesses;
  readonly own: OwnHandlers;
}

/** Events of the handlers of each replica's informers, both those of the operator, and some that come and go. */
export class WatchedHandlers {
  readonly #byHost = new Map<ReplicaHost, Watched>();

  /** An operator was created. Watches the informers of its cache, if it has one that can be watched. */
  watch(host: ReplicaHost, scope: Scope, cache: unknown, options: WitnessOptions): void {
    if (!isWitnessable(cache)) return;
    const witnesses = new Witnesses(host, scope, cache, options);
    this.#byHost.set(host, { cache, witnesses, own: new OwnHandlers(scope, cache, options) });
  }

  /**
   * Checks whether the handlers of a replica received the state of the server. An operator may write in quiet times,
   * too, while a handler is still processing the previous event, so this waits, for at most a minute.
   */
  async compare(host: ReplicaHost, sleep: (ms: number) => Promise<void>): Promise<void> {
    const watched = this.#byHost.get(host);
    if (watched === undefined) return;
    const { cache, witnesses, own } = watched;
    for (let waitedMs = 0; waitedMs < busyMs && (witnesses.isBusy || own.isBusy); waitedMs += pollMs)
      await sleep(pollMs);
    witnesses.compare();
    own.compare(cache);
  }

  /** The replica is stopping, so the handlers that come and go leave. */
  end(host: ReplicaHost): void {
    this.#byHost.get(host)?.witnesses.end();
  }
}
