import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
} from '@kctl/apimachinery/kinds/rbac.authorization.k8s.io/v1';
import type { ServiceAccount } from '@kctl/apimachinery/kinds/core/v1';
import { requireOptions, shownValue, type OptionNames } from '@kctl/options';
import type { AccessNeed } from './access-need.js';
import { requireNeeds } from './require-arguments.js';
import { policyRules } from './policy-rules.js';

/** Options of {@link generateRbac}. */
export interface GenerateRbacOptions {
  /** Names the service account, the roles and the bindings. */
  readonly name: string;
  /** Namespace of the service account, in which the operator runs. */
  readonly namespace: string;
  /** Of every object. @default none */
  readonly labels?: Readonly<Record<string, string>>;
}

const optionNames: OptionNames<GenerateRbacOptions> = { name: true, namespace: true, labels: true };

/** An object of {@link generateRbac}, as a manifest has it. */
export type RbacObject = (ServiceAccount | ClusterRole | ClusterRoleBinding | Role | RoleBinding) & {
  readonly apiVersion: string;
  readonly kind: string;
};

const rbacGroup = 'rbac.authorization.k8s.io';
const rbacVersion = 'rbac.authorization.k8s.io/v1';

/**
 * The service account of an operator, the least roles that grant what it needs, and their bindings. Rights needed in
 * every namespace go into a ClusterRole, the rest into a Role in each namespace. The same output for the same needs.
 *
 * @throws TypeError for an option that is not known, an empty name, or a value that is not a list of needs
 *
 * @example
 * ```ts
 * import { Secret } from '@kctl/apimachinery/kinds/core/v1';
 * import { accessTo, generateRbac } from '@kctl/rbac';
 *
 * const objects = generateRbac([accessTo(Secret, ['get'])], { name: 'shop', namespace: 'shop-system' });
 * ```
 */
export function generateRbac(needs: readonly AccessNeed[], options: GenerateRbacOptions): readonly RbacObject[] {
  requireNeeds('generateRbac', needs);
  requireOptions('generateRbac', options, optionNames);
  const { name, namespace, labels } = options;
  for (const [field, value] of Object.entries({ name, namespace }))
    if (typeof value !== 'string' || value === '')
      throw new TypeError(`generateRbac: ${field} ${shownValue(value)} is not valid: expected a name`);
  const rules = policyRules(needs);
  const labelled = labels === undefined ? {} : { labels: { ...labels } };
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const bind = (kind: string): { roleRef: RoleBinding['roleRef']; subjects: typeof subjects } => ({
    roleRef: { apiGroup: rbacGroup, kind, name },
    subjects,
  });
  const typed = <K extends string>(kind: K): { apiVersion: typeof rbacVersion; kind: K } => ({
    apiVersion: rbacVersion,
    kind,
  });
  const inNamespace = ([where, own]: [string, readonly PolicyRule[]]): RbacObject[] => [
    { ...typed('Role'), metadata: { name, namespace: where, ...labelled }, rules: [...own] },
    { ...typed('RoleBinding'), metadata: { name, namespace: where, ...labelled }, ...bind('Role') },
  ];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace, ...labelled } },
    ...(rules.cluster.length === 0
      ? []
      : [
          { ...typed('ClusterRole'), metadata: { name, ...labelled }, rules: [...rules.cluster] },
          { ...typed('ClusterRoleBinding'), metadata: { name, ...labelled }, ...bind('ClusterRole') },
        ]),
    ...[...rules.namespaces].flatMap(inNamespace),
  ];
}
