import { formatResource, type AccessNeed, type AccessVerb } from './access-need.js';
import { shownType } from '@kctl/options';
import { requireUses, requireNeeds } from './require-arguments.js';
import type { AccessUse } from './access-use.js';
import type { CountedUse } from './access-recorder.js';

/** A right that was used and is not declared. */
export interface MissingAccess extends CountedUse {
  /** Remedy, as a sentence. */
  readonly remedy: string;
}

/** A right that is declared and was not used. */
export interface UnusedAccess {
  readonly group: string;
  readonly resource: string;
  readonly verb: AccessVerb;
  /** Declaration that the right comes from. */
  readonly reason: string;
}

/** Difference between declared rights and those used in a test. */
export interface AccessDifference {
  readonly missing: readonly MissingAccess[];
  /** Without those that are declared for rare cases, see `AccessNeed.when`. */
  readonly unused: readonly UnusedAccess[];
  /** Whether nothing is missing, and nothing unused. */
  readonly isEqual: boolean;
}

/**
 * Compares the rights that are declared with those that were used, e.g. in a test that covers an operator.
 *
 * @throws TypeError for what is not a list of needs, or of uses
 */
export function compareAccess(needs: readonly AccessNeed[], uses: readonly CountedUse[]): AccessDifference {
  requireNeeds('compareAccess', needs);
  requireUses('compareAccess', 'uses', uses);
  const missing = [...uses, ...refusedCreations(needs, uses)]
    .filter((use) => !needs.some((need) => grants(need, use)))
    .map((use) => ({ ...use, remedy: remedyFor(needs, use) }));
  const isUsed = (need: AccessNeed, verb: AccessVerb): boolean =>
    uses.some((use) => use.verb === verb && grants(need, use));
  const unused = new Map<string, UnusedAccess>();
  for (const need of needs) {
    if (need.when !== undefined) continue;
    for (const verb of need.verbs) {
      if (isUsed(need, verb)) continue;
      const { group, resource, reason } = need;
      unused.set(JSON.stringify([group, resource, verb, reason]), { group, resource, verb, reason });
    }
  }
  const found = [...unused].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, each]) => each);
  return { missing, unused: found, isEqual: missing.length === 0 && found.length === 0 };
}

/**
 * The right `create` of applies that were refused although `patch` is granted. An apply of an object that does not
 * exist needs both, and its refusal does not state which of them is missing.
 */
function refusedCreations(needs: readonly AccessNeed[], uses: readonly CountedUse[]): CountedUse[] {
  const found = new Map<string, CountedUse>();
  for (const { group, resource, verb, namespace, name, refused } of uses) {
    if (refused === 0 || resource.includes('/') || (verb !== 'patch' && verb !== 'update')) continue;
    if (!needs.some((need) => grants(need, { group, resource, verb, namespace, name }))) continue;
    const id = JSON.stringify([group, resource, namespace ?? '']);
    const count = (found.get(id)?.count ?? 0) + refused;
    found.set(id, { group, resource, verb: 'create', namespace, name: undefined, count, refused: count });
  }
  const isUsed = (creation: CountedUse): boolean =>
    uses.some(
      ({ group, resource, verb, namespace }) =>
        verb === 'create' &&
        group === creation.group &&
        resource === creation.resource &&
        namespace === creation.namespace,
    );
  return [...found.values()].filter((creation) => !isUsed(creation));
}

/** Whether a need grants what a request used. */
function grants(need: AccessNeed, use: AccessUse): boolean {
  if (need.group !== use.group || need.resource !== use.resource || !need.verbs.includes(use.verb)) return false;
  const isNamespace =
    need.namespaces === undefined || (use.namespace !== undefined && need.namespaces.includes(use.namespace));
  return isNamespace && (need.names === undefined || (use.name !== undefined && need.names.includes(use.name)));
}

function remedyFor(needs: readonly AccessNeed[], use: AccessUse): string {
  const near = needs.find(
    ({ group, resource, verbs }) => group === use.group && resource === use.resource && verbs.includes(use.verb),
  );
  if (near !== undefined) {
    const within = near.namespaces === undefined ? '' : ` in ${near.namespaces.join(', ')}`;
    const named = near.names === undefined ? '' : ` on ${near.names.join(', ')}`;
    return `${near.reason} declares it${named}${within} alone: widen that declaration`;
  }
  const [plural = '', subresource] = use.resource.split('/');
  const part = subresource === undefined ? '' : `, { subresource: '${subresource}' }`;
  return `add .needs(<the kind of ${formatResource({ group: use.group, resource: plural })}>, ['${use.verb}']${part}) to the controller that sends it`;
}

/** A difference as lines, each with the name of a right and its remedy. '' if nothing differs. */
export function formatAccess(difference: Pick<AccessDifference, 'missing' | 'unused'>): string {
  const given: unknown = difference;
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`formatAccess: the difference is ${shownType(given)}: expected what compareAccess returns`);
  const { missing, unused } = difference;
  requireUses('formatAccess', 'missing', missing);
  requireUses('formatAccess', 'unused', unused);
  const lines = [
    ...missing.map((use) => {
      const where = use.namespace === undefined ? '' : ` in namespace ${use.namespace}`;
      const times = use.count === 1 ? 'once' : `${use.count} times`;
      const refused =
        use.refused === 0
          ? ''
          : `, refused ${use.refused === use.count ? 'each time' : use.refused === 1 ? 'once' : `${use.refused} times`}`;
      return `not granted: ${use.verb} ${formatResource(use)}${where} (sent ${times}${refused}): ${use.remedy}`;
    }),
    ...unused.map(
      ({ verb, reason, ...of }) =>
        `never used: ${verb} ${formatResource(of)}, which ${reason} declares: cover it by a test, or declare less`,
    ),
  ];
  return lines.join('\n');
}
