import { compareAccess, type AccessNeed, type CountedUse, type SentRequest } from '@kctl/rbac';
import { accessOf } from '@kctl/rbac/internal';

/** Different rights that are counted; there are as many as kinds, verbs and namespaces. */
const maxUses = 2000;

/** A right beside what it was declared by, and how often it was used. */
export interface RightRow {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  /** All if undefined. */
  readonly namespace: string | undefined;
  readonly count: number;
  /** How many requests were answered with 403. */
  readonly refused: number;
  /** `used`, `unused`, or `missing`: used and not declared. */
  readonly state: 'used' | 'unused' | 'missing';
  /** The declaration of an unused right, or the remedy for a missing one. */
  readonly note: string;
}

/** Counts the rights that requests use, without names of objects. */
export class UsedRights {
  readonly #uses = new Map<string, CountedUse>();

  /** For the option `observe` of a connection. */
  readonly observe = (request: SentRequest): void => {
    for (const use of accessOf(request)) {
      const { group, resource, verb, namespace } = use;
      const id = `${group} ${resource} ${verb} ${namespace ?? ''}`;
      const before = this.#uses.get(id);
      if (before === undefined && this.#uses.size >= maxUses) continue;
      const count = (before?.count ?? 0) + 1;
      const refused = (before?.refused ?? 0) + (request.status === 403 ? 1 : 0);
      this.#uses.set(id, { group, resource, verb, namespace, name: undefined, count, refused });
    }
  };

  /** Rights that are missing first, then those that are used, then those that are not. */
  rows(needs: readonly AccessNeed[]): readonly RightRow[] {
    const uses = [...this.#uses.values()];
    // Names are not recorded, so a declaration for one name counts for all of its kind.
    const { missing, unused } = compareAccess(
      needs.map(({ names: _names, ...need }) => need),
      uses,
    );
    const isMissing = (use: CountedUse): boolean => missing.some((each) => isSame(each, use));
    return [
      ...missing.map(({ group, resource, verb, namespace, count, refused, remedy }): RightRow => {
        return { group, resource, verb, namespace, count, refused, state: 'missing', note: remedy };
      }),
      ...uses
        .filter((use) => !isMissing(use))
        .map(({ group, resource, verb, namespace, count, refused }): RightRow => {
          return { group, resource, verb, namespace, count, refused, state: 'used', note: '' };
        }),
      ...unused.map(({ group, resource, verb, reason }): RightRow => {
        return { group, resource, verb, namespace: undefined, count: 0, refused: 0, state: 'unused', note: reason };
      }),
    ];
  }
}

function isSame(left: CountedUse, right: CountedUse): boolean {
  return (
    left.group === right.group &&
    left.resource === right.resource &&
    left.verb === right.verb &&
    left.namespace === right.namespace
  );
}
