import { formatGroupKind } from '@kctl/apimachinery';
import type { Kind } from '@kctl/apimachinery';
import { isComparable, isNewer } from './own-write.js';

/**
 * Own writes that are remembered by their scope: those to unknown names (a deleteAllOf, or a create with generateName
 * whose answer was lost), and those to a kind that no store holds yet.
 */
export interface ScopeWrite {
  readonly kind: Kind;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  /** The version that a store must have reached; '' where nobody has asked for it yet. */
  version: string;
  readonly recordedAt: number;
  /** Whether no store held the kind when it was written. */
  readonly isUncached: boolean;
  /** Set when the cache did not get there in time: reads no longer wait for it. */
  isLate?: boolean;
}

/** Beyond this many scopes the oldest is forgotten. */
const maxScopes = 10_000;

/** One entry for each kind and namespace: the writes of a scope add up to a version that covers them all. */
export class ScopeWrites {
  readonly #byName = new Map<string, ScopeWrite>();
  readonly #isExpired: (scope: ScopeWrite) => boolean;

  constructor(isExpired: (scope: ScopeWrite) => boolean) {
    this.#isExpired = isExpired;
  }

  /** How many are waited for, without those of kinds that nobody caches. */
  get pending(): number {
    let count = 0;
    for (const scope of this.#byName.values()) if (!scope.isUncached) count++;
    return count;
  }

  add(scope: ScopeWrite): void {
    const name = nameOf(scope);
    const earlier = this.#byName.get(name);
    // Oldest first, so that expiry and eviction look at the front alone.
    this.#byName.delete(name);
    this.#byName.set(name, earlier === undefined ? scope : merged(earlier, scope));
    for (const oldest of this.#byName.values()) {
      if (!this.#isExpired(oldest) && this.#byName.size <= maxScopes) return;
      this.delete(oldest);
    }
  }

  delete(scope: ScopeWrite): void {
    const name = nameOf(scope);
    if (this.#byName.get(name) === scope) this.#byName.delete(name);
  }

  /** The scopes that a read of this kind and namespace (undefined: all) falls into. */
  over(kind: Kind, namespace: string | undefined): readonly ScopeWrite[] {
    if (this.#byName.size === 0) return [];
    const name = formatGroupKind(kind);
    const isAll = namespace === undefined || namespace === '';
    return [...this.#byName.values()].filter(
      (scope) =>
        formatGroupKind(scope.kind) === name &&
        (isAll || scope.namespace === undefined || scope.namespace === namespace) &&
        !this.#isExpired(scope),
    );
  }
}

function merged(earlier: ScopeWrite, later: ScopeWrite): ScopeWrite {
  const isUncached = earlier.isUncached && later.isUncached;
  // The version of a later write that is not known is above all that are known.
  if (!isComparable(later.version)) return { ...later, version: '', isUncached };
  if (!isComparable(earlier.version)) return { ...later, version: '', isUncached };
  return { ...later, version: isNewer(earlier.version, later.version) ? earlier.version : later.version, isUncached };
}

function nameOf({ kind, namespace }: ScopeWrite): string {
  return `${formatGroupKind(kind)} ${namespace ?? '*'}`;
}
