import { nearestName } from '@kctl/options';
import { builtInKinds, type BuiltInKind } from './built-in-kinds.js';

/** What names a built-in kind, as kubectl takes it. */
const forms = 'Kind, Kind.group or Kind.version.group of a kind of Kubernetes, such as "Deployment.apps"';

/**
 * Finds a built-in kind by `Kind`, `Kind.group` or `Kind.version.group`, as kubectl does; a version of the core group is
 * `Pod.v1.`, with its last dot or without. Without a version the preferred one, without a group the first that has the
 * kind.
 */
export function findBuiltIn(name: string): BuiltInKind | undefined {
  return builtInKinds.find((each) => namesOf(each).includes(name));
}

/** The shortest of {@link findBuiltIn} that is of this kind and group. */
export function nameOfBuiltIn({ kind, group }: BuiltInKind): string {
  return group === '' ? kind : `${kind}.${group}`;
}

function namesOf({ kind, version, group }: BuiltInKind): readonly string[] {
  const versioned = `${kind}.${version}`;
  return group === '' ? [kind, versioned, `${versioned}.`] : [kind, `${kind}.${group}`, `${versioned}.${group}`];
}

/** The name of the built-in kind that is most like a name; undefined if none is. */
export function nearestBuiltIn(name: string): string | undefined {
  return nearestName(name, [...new Set(builtInKinds.flatMap(namesOf))]);
}

/** The problem with the name of a built-in kind; undefined if there is such a kind. */
export function builtInProblem(name: string): string | undefined {
  if (findBuiltIn(name) !== undefined) return undefined;
  const nearest = nearestBuiltIn(name);
  const hint = nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
  return `${JSON.stringify(name)} is not a built-in kind that can be scaffolded: expected ${forms}${hint}`;
}
