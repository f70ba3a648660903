/** Random users that calls are made as, by impersonation, and the roles that they have. */
import type { Context } from '../harness/context.js';
import { created } from '../harness/expect.js';
import type { Random } from './random.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** Rules by role. Each role is bound to the group of its name. */
const ROLES = {
  'diff-reader': [
    { apiGroups: ['', 'apps'], resources: ['configmaps', 'deployments', 'services'], verbs: ['get', 'list', 'watch'] },
  ],
  'diff-writer': [
    {
      apiGroups: ['*'],
      resources: ['configmaps', 'secrets', 'widgets', 'ruled'],
      verbs: ['get', 'create', 'update', 'patch'],
    },
  ],
  'diff-named': [{ apiGroups: [''], resources: ['configmaps', 'pods'], resourceNames: ['a', 'b'], verbs: ['*'] }],
  'diff-status': [
    { apiGroups: ['*'], resources: ['*/status', 'deployments/scale'], verbs: ['get', 'update', 'patch'] },
  ],
} as const;

/** Makes the roles and their bindings. */
export async function createRoles({ post }: Context): Promise<void> {
  for (const [name, rules] of Object.entries(ROLES)) {
    created(await post(`${RBAC}/clusterroles`, { metadata: { name }, rules }));
    created(
      await post(`${RBAC}/clusterrolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name }],
      }),
    );
  }
}

/** Headers of a request as another user; most requests have none. */
export function randomUser(random: Random): Readonly<Record<string, string>> | undefined {
  if (!random.chance(0.12)) return undefined;
  const group = random.pick([...Object.keys(ROLES), 'system:masters', 'nothing']);
  return {
    ...(random.chance(0.97) && {
      'impersonate-user': random.pick(['jane', 'joe', 'system:anonymous', 'system:serviceaccount:default:sa', '']),
    }),
    ...(random.chance(0.9) && { 'impersonate-group': group }),
    ...(random.chance(0.05) && { 'impersonate-uid': random.pick(['1', '']) }),
    ...(random.chance(0.05) && { 'impersonate-extra-scopes': 'view' }),
    ...(random.chance(0.02) && { 'impersonate-bogus': 'x' }),
  };
}
