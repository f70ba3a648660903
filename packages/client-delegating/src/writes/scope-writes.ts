import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { Kind } from '@kctl/apimachinery';
import { isComparable, isNewer, storeName } from './own-write.js';

/**
 * Own writes that are recorded by their scope. They are those to unknown names (a deleteAllOf that was not answered by
 * a list, or a create with generateName whose answer was lost), and those to a kind that no store holds yet.
 */
export interface ScopeWrite {
  readonly kind: Kind;
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  /** The version that a store must have reached; '' until the server has sent one. */
  version: string;
  /** Whether that is the version of the whole server, which a store of a quiet kind does not get to. */
  isOfServer?: boolean;
  readonly recordedAt: number;
  /** The stores that have caught up. */
  readonly settledFor: Set<string>;
  /**
   * By store, its version when its differences to the server were recorded. They hold for as long as it stays there.
   */
  readonly comparedAt: Map<string, string>;
  /** Whether the cache did not get there in time. */
  isLate?: boolean;
  /** Whether the server has returned what was written, so that only a store which moves and is still behind is in doubt. */
  readonly isAnswered?: boolean;
}

/** Host interface of {@link ScopeWrites}. */
export interface ScopeWritesHost {
  isExpired(scope: ScopeWrite): boolean;
  /** Whether a store holds what was written. */
  isHeld(scope: ScopeWrite): boolean;
  /**
   * The coverage of the stores of a group and kind, with other values whenever it changes; undefined if it is not
   * known.
   */
  coverageOf(kind: Kind): readonly unknown[] | undefined;
}

/** Beyond this many scopes the oldest is forgotten. */
const maxScopes = 10_000;

const everywhere = '*';

interface KindScopes {
  /** By namespace; {@link everywhere} for all. A read looks at these. */
  readonly held: Map<string, ScopeWrite>;
  /** Scopes that no store holds, checked again when the coverage changes. */
  readonly parked: Map<string, ScopeWrite>;
  coverage: readonly unknown[] | undefined;
}

/**
 * One entry for each kind and namespace. The writes of a scope add up to a version that covers them all.
 *
 * Retains at most 10,000 entries of a few words, each for `ownWriteTtlMs` at most, no object. `add` is O(1). `over` is
 * O(1) for one namespace, O(what is waited for) for all of them, however many namespaces no store holds; O(parked) once
 * after the cache has changed what it holds.
 */
export class ScopeWrites {
  readonly #byKind = new Map<string, KindScopes>();
  readonly #host: ScopeWritesHost;
  /** All of them, oldest first, so that expiry and eviction look at the front alone. */
  readonly #order = new Set<ScopeWrite>();
  #held = 0;

  constructor(host: ScopeWritesHost) {
    this.#host = host;
  }

  /** How many are waited for, without those of what no store holds, and without those that the server has answered. */
  get pending(): number {
    return this.#held;
  }

  /** How many are remembered, those of what no store holds included. */
  get size(): number {
    return this.#order.size;
  }

  add(scope: ScopeWrite): void {
    const scopes = this.#of(scope.kind);
    const earlier = scopes.held.get(placeOf(scope)) ?? scopes.parked.get(placeOf(scope));
    if (earlier !== undefined) this.delete(earlier);
    this.#put(scopes, earlier === undefined ? scope : merged(earlier, scope));
    for (const oldest of this.#order) {
      if (!this.#host.isExpired(oldest) && this.#order.size <= maxScopes) return;
      this.delete(oldest);
    }
  }

  delete(scope: ScopeWrite): void {
    if (!this.#order.delete(scope)) return;
    const name = formatGroupKind(scope.kind);
    const scopes = this.#byKind.get(name);
    if (scopes === undefined) return;
    const place = placeOf(scope);
    if (scopes.held.get(place) === scope) {
      scopes.held.delete(place);
      this.#held -= own(scope);
    } else if (scopes.parked.get(place) === scope) scopes.parked.delete(place);
    if (scopes.held.size === 0 && scopes.parked.size === 0) this.#byKind.delete(name);
  }

  /** The scopes that a read of this kind and namespace (undefined or '': all) falls into and that are not settled for it. */
  over(kind: Kind, namespace: string | undefined): readonly ScopeWrite[] {
    if (this.#byKind.size === 0) return none;
    const scopes = this.#byKind.get(formatGroupKind(kind));
    if (scopes === undefined) return none;
    const places = namespace === undefined || namespace === '' ? undefined : [namespace, everywhere];
    if (places?.some((place) => scopes.held.has(place) || scopes.parked.has(place)) === false) return none;
    this.#sort(kind, scopes, places);
    if (scopes.held.size === 0) return none;
    const found = places === undefined ? [...scopes.held.values()] : places.map((place) => scopes.held.get(place));
    const store = storeName(kind);
    return found.filter(
      (scope): scope is ScopeWrite =>
        scope !== undefined && !scope.settledFor.has(store) && !this.#host.isExpired(scope),
    );
  }

  /**
   * Sorts each scope by whether it is held, if the coverage of the cache has changed since the last check. If a cache
   * does not report its coverage, the affected places are checked each time.
   */
  #sort(kind: Kind, scopes: KindScopes, places: readonly string[] | undefined): void {
    const { held, parked } = scopes;
    const coverage = this.#host.coverageOf(kind);
    if (coverage !== undefined && isSame(coverage, scopes.coverage)) return;
    scopes.coverage = coverage;
    const all = coverage === undefined && places !== undefined ? places : [...held.keys(), ...parked.keys()];
    for (const place of all) {
      const scope = held.get(place) ?? parked.get(place);
      if (scope === undefined) continue;
      const isHeld = this.#host.isHeld(scope);
      if (isHeld === held.has(place)) continue;
      (isHeld ? parked : held).delete(place);
      (isHeld ? held : parked).set(place, scope);
      this.#held += isHeld ? own(scope) : -own(scope);
    }
  }

  #put(scopes: KindScopes, scope: ScopeWrite): void {
    this.#order.add(scope);
    // The last entry of the kind may have gone with the one that this replaces.
    this.#byKind.set(formatGroupKind(scope.kind), scopes);
    const isHeld = this.#host.isHeld(scope);
    (isHeld ? scopes.held : scopes.parked).set(placeOf(scope), scope);
    if (isHeld) this.#held += own(scope);
  }

  #of(kind: Kind): KindScopes {
    const name = formatGroupKind(kind);
    let scopes = this.#byKind.get(name);
    if (scopes === undefined)
      this.#byKind.set(
        name,
        (scopes = {
          held: new Map<string, ScopeWrite>(),
          parked: new Map<string, ScopeWrite>(),
          coverage: this.#host.coverageOf(kind),
        }),
      );
    return scopes;
  }
}

const none: readonly ScopeWrite[] = Object.freeze([]);

/** Counts among the own writes that the cache has not seen. */
function own({ isAnswered = false }: ScopeWrite): number {
  return isAnswered ? 0 : 1;
}

function merged(earlier: ScopeWrite, later: ScopeWrite): ScopeWrite {
  const isAnswered = earlier.isAnswered === true && later.isAnswered === true;
  // A comparison with a store holds if both scopes contain it.
  const comparedAt = new Map([...later.comparedAt].filter(([store, at]) => earlier.comparedAt.get(store) === at));
  const both = { ...later, isAnswered, comparedAt };
  // The version of a write that is not known is above all that are known.
  if (!isComparable(later.version) || !isComparable(earlier.version)) return { ...both, version: '' };
  if (!isNewer(earlier.version, later.version)) return both;
  const { version, isOfServer = false } = earlier;
  return { ...both, version, isOfServer };
}

function placeOf({ namespace }: ScopeWrite): string {
  return namespace ?? everywhere;
}

function isSame(left: readonly unknown[], right: readonly unknown[] | undefined): boolean {
  return right !== undefined && left.length === right.length && left.every((value, index) => value === right[index]);
}
