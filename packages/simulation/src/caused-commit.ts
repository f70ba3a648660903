import type { Commit } from '@kctl/apiserver';
import type { Exchange } from './network/exchange.js';
import type { Scope } from './scope.js';

/** A commit, with the request that caused it; the server's own controllers cause some without one. */
export interface CausedCommit extends Commit {
  readonly exchange: Exchange | undefined;
  /** Scope that made it, or for a live object, that created it. */
  readonly origin: Scope['kind'];
  /** `widgets demo/a`. */
  readonly label: string;
}
