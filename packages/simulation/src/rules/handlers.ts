import type { ReplicaHost } from '../replica-host.js';
import type { Scope } from '../scope.js';
import { isWitnessable, type WitnessedCache } from './handler-history.js';
import { OwnHandlers } from './own-handlers.js';
import { Witnesses, type WitnessOptions } from './witness.js';

interface Watched {
  readonly cache: WitnessedCache;
  readonly witnesses: Witnesses;
  readonly own: OwnHandlers;
}

/** What handlers of the informers of each replica are given: those of the operator, and some that come and go. */
export class WatchedHandlers {
  readonly #byHost = new Map<ReplicaHost, Watched>();

  /** An operator was made: watches the informers of its cache, where it has one that can be watched. */
  watch(host: ReplicaHost, scope: Scope, cache: unknown, options: WitnessOptions): void {
    if (!isWitnessable(cache)) return;
    const witnesses = new Witnesses(host, scope, cache, options);
    this.#byHost.set(host, { cache, witnesses, own: new OwnHandlers(scope, cache, options) });
  }

  /** Whether the handlers of a replica were given what the server has, now that nothing moves. */
  compare(host: ReplicaHost): void {
    const { cache, witnesses, own } = this.#byHost.get(host) ?? {};
    witnesses?.compare();
    if (cache !== undefined) own?.compare(cache);
  }

  /** The replica is stopping: those that come and go leave. */
  end(host: ReplicaHost): void {
    this.#byHost.get(host)?.witnesses.end();
  }
}
