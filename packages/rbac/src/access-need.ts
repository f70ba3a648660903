import { optionProblems, shownType, shownValue, type OptionNames } from '@kctl/options';
import { isRight } from './require-arguments.js';

/** The verbs of RBAC on resources, in the order in which rules list them. */
export const accessVerbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const;

/** A verb of RBAC on resources. */
export type AccessVerb = (typeof accessVerbs)[number];

/** Rights on one resource, and what needs them. */
export interface AccessNeed {
  /** '' for the core group. */
  readonly group: string;
  /** Plural, with a subresource after a slash: `websites`, `websites/status`. */
  readonly resource: string;
  readonly verbs: readonly AccessVerb[];
  /** @default every namespace, and objects without one */
  readonly namespaces?: readonly string[];
  /** Names of objects; `list`, `watch` and `create` cannot be bound to them. @default every object */
  readonly names?: readonly string[];
  /** Declaration that needs the rights, as the author wrote it, such as `for(Website)`. */
  readonly reason: string;
  /** The rare case in which the rights are used. They are granted, and a test that never uses them does not report them. */
  readonly when?: string;
  /**
   * The version of the kind that it was declared with. It is not enumerable: RBAC does not know versions, so that needs
   * compare, and are printed, without it. @default not known
   */
  readonly version?: string;
}

/** The part of a kind that names its resource. */
export interface AccessKind {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly version?: string;
}

/** Options that narrow or explain a need. */
export interface AccessOptions {
  /** `status`, `finalizers`, `scale`, … @default none, the object itself */
  readonly subresource?: string;
  /** See {@link AccessNeed.namespaces}. @default every namespace */
  readonly namespaces?: readonly string[];
  /** See {@link AccessNeed.names}. @default every object */
  readonly names?: readonly string[];
  /** @default `needs(<kind>)` */
  readonly reason?: string;
  /** See {@link AccessNeed.when}. @default none, so used in every test that covers the operator */
  readonly when?: string;
}

const optionNames: OptionNames<AccessOptions> = {
  subresource: true,
  namespaces: true,
  names: true,
  reason: true,
  when: true,
};

/** Verbs that cannot be bound to names, because the request does not have the name, or does not have it in its path. */
const unnamedVerbs: readonly string[] = ['list', 'watch', 'create', 'deletecollection'];

/**
 * Rights on the objects of a kind.
 *
 * @throws TypeError naming everything that is not valid
 *
 * @example
 * ```ts
 * import { Secret } from '@kctl/apimachinery/kinds/core/v1';
 * import { accessTo } from '@kctl/rbac';
 *
 * const need = accessTo(Secret, ['get'], { namespaces: ['shop'], names: ['database'] });
 * ```
 */
export function accessTo(kind: AccessKind, verbs: readonly AccessVerb[], options: AccessOptions = {}): AccessNeed {
  const problems = needProblems(kind, verbs, options);
  if (problems.length > 0) throw new TypeError(`needs: ${problems.join('; ')}`);
  const { subresource, namespaces, names, when } = options;
  const need: AccessNeed = {
    group: kind.group,
    resource: subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`,
    verbs: sortVerbs(verbs),
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(names === undefined ? {} : { names }),
    reason: options.reason ?? `needs(${kind.kind})`,
    ...(when === undefined ? {} : { when }),
  };
  if (kind.version !== undefined) Object.defineProperty(need, 'version', { value: kind.version });
  return need;
}

/** Everything that is wrong with the arguments of {@link accessTo}, for builders that collect mistakes. */
export function needProblems(kind: unknown, verbs: unknown, options: AccessOptions | undefined): string[] {
  if (typeof kind !== 'object' || kind === null || !('plural' in kind))
    return ['the kind is not valid: expected a kind, such as one of defineKind(…); is its import right?'];
  const problems = optionProblems(options, optionNames);
  const known: readonly unknown[] = accessVerbs;
  if (!Array.isArray(verbs) || verbs.length === 0)
    return [...problems, `the verbs are not valid: expected a list of ${accessVerbs.join(', ')}`];
  for (const verb of verbs)
    if (!known.includes(verb))
      problems.push(`verb ${shownValue(verb)} is not valid: expected one of ${accessVerbs.join(', ')}`);
  for (const field of ['namespaces', 'names'] as const) {
    const value: unknown = options?.[field];
    const isList =
      Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string' && name !== '');
    if (value !== undefined && !isList)
      problems.push(`${field} ${JSON.stringify(value)} is not valid: expected a list of names; leave it out for all`);
  }
  // A Role grants nothing on an object without a namespace. A Namespace has the Role in the namespace of its name.
  if (options?.namespaces !== undefined && 'scope' in kind && kind.scope === 'Cluster' && kind.plural !== 'namespaces')
    problems.push(
      `namespaces ${JSON.stringify(options.namespaces)} is set for ${String(kind.plural)}, which are not in a namespace: leave it out`,
    );
  const subresource: unknown = options?.subresource;
  if (subresource !== undefined && (typeof subresource !== 'string' || subresource === ''))
    problems.push(`subresource ${shownValue(subresource)} is not valid: expected a name, such as "status"`);
  const unnamed = options?.names === undefined ? [] : verbs.filter((verb) => unnamedVerbs.includes(String(verb)));
  if (unnamed.length > 0)
    problems.push(
      `${unnamed.join(', ')} cannot be bound to names: RBAC compares names with the path of a request; declare them apart, without names`,
    );
  return problems;
}

/** Verbs in the order of {@link accessVerbs}, each once. */
export function sortVerbs(verbs: Iterable<string>): AccessVerb[] {
  const given = new Set(verbs);
  return accessVerbs.filter((verb) => given.has(verb));
}

/** `websites.example.com`, `pods`, `websites.example.com/status`: as `kubectl auth can-i` takes a resource. */
export function formatResource(of: { readonly group: string; readonly resource: string }): string {
  if (!isRight(of)) throw new TypeError(`formatResource: ${shownType(of)} does not name a group and a resource`);
  const { group, resource } = of;
  const [plural = '', subresource] = resource.split('/');
  const name = group === '' ? plural : `${plural}.${group}`;
  return subresource === undefined ? name : `${name}/${subresource}`;
}
