import type { Exchange } from '../network/exchange.js';
import { isWrite, parameterOf } from '../network/target.js';
import type { ReplicaHost } from '../replica/replica-host.js';

/** A replica and a resource. */
export interface HostResource {
  readonly host: ReplicaHost;
  readonly resource: string;
}

/** Revoked permissions of a replica. */
export interface Revoked extends HostResource {
  readonly onlyWrites: boolean;
}

/**
 * Temporary faults of all requests of a replica for a resource. Each method that starts one returns a function that
 * ends it.
 */
export class Spells {
  readonly #flapping = new Set<HostResource>();
  readonly #expired = new Set<HostResource>();
  readonly #revoked = new Set<Revoked>();

  /** Its watches end as soon as they are open. */
  flap(which: HostResource): () => void {
    return begin(this.#flapping, which);
  }

  /** Whatever version it names is too old. */
  expire(which: HostResource): () => void {
    return begin(this.#expired, which);
  }

  /** It may not write it, or not use it. */
  revoke(which: Revoked): () => void {
    return begin(this.#revoked, which);
  }

  clear(): void {
    for (const spells of [this.#flapping, this.#expired, this.#revoked]) spells.clear();
  }

  isFlapping(watch: Exchange): boolean {
    return watch.isWatch && isAbout(this.#flapping, watch);
  }

  isExpired(exchange: Exchange): boolean {
    const { target } = exchange;
    if ((target.verb !== 'list' && target.verb !== 'watch') || !isAbout(this.#expired, exchange)) return false;
    const version = parameterOf(target, 'resourceVersion');
    return version !== '' && version !== '0';
  }

  isRevoked(exchange: Exchange): boolean {
    return isAbout(this.#revoked, exchange, ({ onlyWrites }) => !onlyWrites || isWrite(exchange.target));
  }
}

function begin<T>(spells: Set<T>, which: T): () => void {
  spells.add(which);
  return () => {
    spells.delete(which);
  };
}

function isAbout<T extends HostResource>(
  spells: ReadonlySet<T>,
  { scope, target }: Exchange,
  test: (which: T) => boolean = () => true,
): boolean {
  for (const which of spells)
    if (which.host.scope === scope && which.resource === target.resource && test(which)) return true;
  return false;
}
