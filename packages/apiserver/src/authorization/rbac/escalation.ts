import type { UntypedObject } from '@kctl/apimachinery';
import { arrayOf, at, stringOf, goQuoted } from '@kctl/crd/internal/engine';
import { forbiddenObject, notFound } from '../../protocol/status.js';
import type { User } from '../../protocol/api-request.js';
import { isDeepEqual } from '../../json/equality.js';
import { resourceAttributes } from '../attributes.js';
import { clusterRoleBindingTable, clusterRoleTable, rbacGroup, roleBindingTable, roleTable } from './binding-index.js';
import { describeRules, goList, uncovered } from './covers.js';
import { readRules, type PolicyRule } from './policy-rule.js';
import { privilegedGroup, type RbacAuthorizer } from './rbac-authorizer.js';

/** A write of a role or of a binding. */
export interface GrantingWrite {
  readonly user: User;
  /** Table of the kind. */
  readonly table: string;
  /** The plural. */
  readonly resource: string;
  /** '' for what is cluster-scoped. */
  readonly namespace: string;
  /** The name in the URL; '' in a create. */
  readonly urlName: string;
  readonly object: UntypedObject;
  readonly old: UntypedObject | undefined;
}

/** Refuses a write by which a user would gain, or give, what the user may not do. @throws StatusError 403, 404 */
export type EscalationCheck = (write: GrantingWrite) => void;

const fullAuthority: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

/** Kinds covered by {@link EscalationCheck}; all other kinds need no check. */
export const grantingTables: ReadonlySet<string> = new Set([
  roleTable,
  clusterRoleTable,
  roleBindingTable,
  clusterRoleBindingTable,
]);

/** The check of the storage of roles and bindings. Members of system:masters pass it. */
export function createEscalationCheck(rbac: RbacAuthorizer): EscalationCheck {
  const refuse = (write: GrantingWrite, why: string): never => {
    const { object, resource } = write;
    throw forbiddenObject({ group: rbacGroup, plural: resource }, object.metadata.name ?? '', why);
  };

  const requireRules = ({ user, namespace }: GrantingWrite, rules: readonly PolicyRule[]): string | undefined => {
    const { rules: owned, errors } = rbac.resolve(user, namespace);
    const missing = uncovered(owned, rules);
    if (missing.length === 0) return undefined;
    const suffix = errors.length === 0 ? '' : `; resolution errors: [${errors.join(' ')}]`;
    return `user ${goQuoted(user.name)} (groups=${goList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${describeRules(missing)}${suffix}`;
  };

  const checkRole = (write: GrantingWrite): void => {
    const { user, resource, namespace, urlName, object, old } = write;
    const about = { group: rbacGroup, version: '*', resource, namespace, name: urlName };
    if (rbac.authorize(resourceAttributes(user, 'escalate', about)).allowed || changesUpkeepAlone(object, old)) return;
    const problem = requireRules(write, readRules(object));
    if (problem !== undefined) refuse(write, problem);
    if (!isAggregated(object) && !isAggregated(old)) return;
    if (requireRules(write, fullAuthority) !== undefined)
      refuse(write, 'must have cluster-admin privileges to use the aggregationRule');
  };

  const checkBinding = (write: GrantingWrite): void => {
    const { user, resource, namespace, object, old } = write;
    if (changesUpkeepAlone(object, old)) return;
    const kind = stringOf(at(object, 'roleRef', 'kind'));
    const name = stringOf(at(object, 'roleRef', 'name'));
    const group = stringOf(at(object, 'roleRef', 'apiGroup'));
    const plural = kind === 'ClusterRole' ? 'clusterroles' : kind === 'Role' ? 'roles' : '';
    const about = { group, version: '*', resource: plural, namespace, name };
    if (plural !== '' && rbac.authorize(resourceAttributes(user, 'bind', about)).allowed) return;
    // Validation reports errors of the reference.
    if (plural === '' || name === '') return;
    const rules = rbac.rulesOfRole({ kind, name }, namespace);
    if (rules === undefined) throw notFound({ group: rbacGroup, plural: resource }, name);
    const problem = requireRules(write, rules);
    if (problem !== undefined) refuse(write, problem);
  };

  return (write) => {
    if (write.user.groups.includes(privilegedGroup)) return;
    if (write.table === roleTable || write.table === clusterRoleTable) checkRole(write);
    else checkBinding(write);
  };
}

function isAggregated(role: UntypedObject | undefined): boolean {
  return arrayOf(at(role, 'aggregationRule', 'clusterRoleSelectors')).length > 0;
}

/** Whether a write changes no more than what the garbage collector changes. */
function changesUpkeepAlone(object: UntypedObject, old: UntypedObject | undefined): boolean {
  if (old === undefined) return false;
  const { metadata: kept } = withoutUpkeep(object);
  const { metadata: rest } = withoutUpkeep(old);
  const { kind: _kind, apiVersion: _version, ...content } = object;
  const { kind: _oldKind, apiVersion: _oldVersion, ...oldContent } = old;
  return isDeepEqual({ ...content, metadata: kept }, { ...oldContent, metadata: rest });
}

function withoutUpkeep({ metadata }: UntypedObject): { readonly metadata: object } {
  const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _fields, ...rest } = metadata;
  return { metadata: rest };
}
