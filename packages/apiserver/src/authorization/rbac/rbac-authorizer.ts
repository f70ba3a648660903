import { goQuoted } from '@kctl/crd/internal/engine';
import type { User } from '../../protocol/api-request.js';
import type { Store } from '../../storage/store.js';
import type { Attributes } from '../attributes.js';
import type { Authorizer, Decision, UserRules } from '../authorizer.js';
import {
  clusterRoleTable,
  createBindingIndex,
  rbacGroup,
  roleTable,
  type BindingIndex,
  type Grant,
  type RoleRef,
} from './binding-index.js';
import { allows, rulesOf, type PolicyRule } from './policy-rule.js';

/** Rules that apply to a user, and roles that bindings name and that do not exist. */
export interface ResolvedRules {
  readonly rules: readonly PolicyRule[];
  readonly errors: readonly string[];
}

/** The authorizer of Roles and ClusterRoles, and the rules behind its decisions. */
export interface RbacAuthorizer extends Authorizer {
  /** All rules that apply to a user, including those of a namespace unless it is ''. */
  resolve(user: User, namespace: string): ResolvedRules;
  /** The rules of a role; undefined if it does not exist. */
  rulesOfRole(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined;
  /** Reads all bindings anew. */
  rebuild(): void;
}

/** Members may do everything, whatever the roles allow. */
export const privilegedGroup = 'system:masters';

const privileged: Decision = { allowed: true, reason: '' };

class RoleBasedAuthorizer implements RbacAuthorizer {
  readonly #store: Store;
  readonly #bindings: BindingIndex;

  constructor(store: Store) {
    this.#store = store;
    this.#bindings = createBindingIndex(store);
  }

  rebuild(): void {
    this.#bindings.rebuild();
  }

  rulesOfRole({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const role =
      kind === 'ClusterRole'
        ? this.#store.table(clusterRoleTable).get(name)
        : this.#store.table(roleTable).get(`${namespace}/${name}`);
    return role === undefined ? undefined : rulesOf(role.object);
  }

  authorize(attributes: Attributes): Decision {
    const { user, namespace } = attributes;
    if (user.groups.includes(privilegedGroup)) return privileged;
    const errors: string[] = [];
    for (const scope of namespace === '' ? [''] : ['', namespace]) {
      for (const grant of this.#bindings.grantsOf(user, scope)) {
        const rules = this.rulesOfRole(grant.roleRef, scope);
        if (rules === undefined) errors.push(missingRole(grant.roleRef));
        else if (rules.some((rule) => allows(rule, attributes)))
          return { allowed: true, reason: `RBAC: allowed by ${describe(grant)}` };
      }
    }
    return { allowed: false, reason: errors.length === 0 ? '' : `RBAC: ${aggregate(errors)}` };
  }

  resolve(user: User, namespace: string): ResolvedRules {
    const rules: PolicyRule[] = [];
    const errors: string[] = [];
    for (const scope of namespace === '' ? [''] : ['', namespace]) {
      const grants = new Map<string, Grant>();
      for (const grant of this.#bindings.grantsOf(user, scope)) grants.set(grant.binding, grant);
      for (const { roleRef } of [...grants.values()].sort((a, b) => (a.order < b.order ? -1 : 1))) {
        const found = this.rulesOfRole(roleRef, scope);
        if (found === undefined) errors.push(missingRole(roleRef));
        else rules.push(...found);
      }
    }
    return { rules, errors };
  }

  rulesFor(user: User, namespace: string): UserRules {
    const { rules, errors } = this.resolve(user, namespace);
    return {
      resourceRules: rules
        .filter(({ resources }) => resources.length > 0)
        .map(({ verbs, apiGroups, resources, resourceNames }) => ({
          verbs,
          ...(apiGroups.length > 0 && { apiGroups }),
          resources,
          ...(resourceNames.length > 0 && { resourceNames }),
        })),
      nonResourceRules: rules
        .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
        .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      ...(errors.length > 0 && { evaluationError: aggregate(errors) }),
    };
  }
}

function describe({ binding, roleRef, subject }: Grant): string {
  return `${binding} of ${roleRef.kind} ${goQuoted(roleRef.name)} to ${subject}`;
}

function missingRole({ kind, name }: RoleRef): string {
  return `${kind === 'ClusterRole' ? 'clusterrole' : 'role'}.${rbacGroup} ${goQuoted(name)} not found`;
}

/** Several errors as Go aggregates them, each once, in brackets if there are several. */
export function aggregate(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  const [only = ''] = distinct;
  return distinct.length === 1 ? only : `[${distinct.join(', ')}]`;
}

/** Authorizes by the Roles, ClusterRoles and bindings of a store. */
export function createRbacAuthorizer(store: Store): RbacAuthorizer {
  return new RoleBasedAuthorizer(store);
}
