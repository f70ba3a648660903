import type { ObjectMeta, UntypedObject } from '@kctl/apimachinery';
import { arrayOf, objectsOf, type JsonObject } from '@kctl/crd/internal/engine';
import { formatTime } from '../protocol/go-text.js';
import type { Backend } from '../handlers/call.js';
import { isDeepEqual } from '../json/equality.js';
import {
  clusterRoleBindingTable,
  clusterRoleTable,
  rbacGroup,
  roleBindingTable,
  roleTable,
} from '../authorization/rbac/binding-index.js';
import { uncovered } from '../authorization/rbac/covers.js';
import { bootstrapPolicy } from './generated/bootstrap-policy.js';
import { readRules } from '../authorization/rbac/policy-rule.js';

const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate';
const aggregateLabel = (role: string): string => `rbac.authorization.k8s.io/aggregate-to-${role}`;
const list = (text = ''): string[] => (text === '' ? [] : text.split(','));

/** A role or binding that every cluster has. */
export interface BootstrapObject {
  readonly table: string;
  /** Without uid and time. */
  readonly object: UntypedObject;
}

function readRule(line: string): JsonObject {
  const [verbs, groups, resources, names, urls] = line.trim().split(';');
  const hasResources = list(resources).length > 0;
  return {
    verbs: list(verbs),
    // The core group is '', which is not an empty list.
    ...(hasResources && { apiGroups: (groups ?? '').split(','), resources: list(resources) }),
    ...(list(names).length > 0 && { resourceNames: list(names) }),
    ...(list(urls).length > 0 && { nonResourceURLs: list(urls) }),
  };
}

function readSubject(line: string): JsonObject {
  const [kind = '', namespace = '', name = ''] = line.trim().split(';');
  return kind === 'ServiceAccount' ? { kind, name, namespace } : { kind, apiGroup: rbacGroup, name };
}

function readHead(line: string): BootstrapObject {
  const [type, namespace = '', name = '', first = '', second = ''] = line.split(' ');
  const labels = Object.fromEntries(list(type === 'role' ? first : '').map((role) => [aggregateLabel(role), 'true']));
  const metadata: ObjectMeta = {
    name,
    ...(namespace !== '' && { namespace }),
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
    annotations: { [autoUpdate]: 'true' },
  };
  const apiVersion = `${rbacGroup}/v1`;
  if (type === 'binding') {
    const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding';
    const object = { kind, apiVersion, metadata, roleRef: { apiGroup: rbacGroup, kind: first, name: second } };
    return { table: namespace === '' ? clusterRoleBindingTable : roleBindingTable, object };
  }
  const sources = list(second).map((role) => ({ matchLabels: { [aggregateLabel(role)]: 'true' } }));
  const kind = namespace === '' ? 'ClusterRole' : 'Role';
  const object = {
    kind,
    apiVersion,
    metadata,
    rules: null,
    ...(sources.length > 0 && { aggregationRule: { clusterRoleSelectors: sources } }),
  };
  return { table: namespace === '' ? clusterRoleTable : roleTable, object };
}

/** The roles and bindings of every cluster. */
export function bootstrapObjects(): BootstrapObject[] {
  const objects: BootstrapObject[] = [];
  for (const line of bootstrapPolicy.split('\n')) {
    const { object } = objects.at(-1) ?? {};
    if (!line.startsWith(' ')) objects.push(readHead(line));
    else if (object !== undefined) {
      const isBinding = object['roleRef'] !== undefined;
      const field = isBinding ? 'subjects' : 'rules';
      object[field] = [...arrayOf(object[field]), isBinding ? readSubject(line) : readRule(line)];
    }
  }
  return objects;
}

/**
 * Creates missing roles and bindings that every cluster has, and restores the missing parts of existing ones, unless
 * their annotation `autoupdate` prevents it.
 */
export function bootRoles({ store, clock, newUid }: Backend): void {
  for (const { table, object } of bootstrapObjects()) {
    const { name = '', namespace } = object.metadata;
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    const present = store.table(table).get(key);
    if (present === undefined) {
      const creationTimestamp = formatTime(clock.now());
      const metadata = { ...object.metadata, uid: newUid(), creationTimestamp };
      store.commit({ table, key, expected: 0, object: { ...object, metadata } });
      continue;
    }
    if (present.object.metadata.annotations?.[autoUpdate] === 'false') continue;
    const repaired = withLost(present.object, object);
    if (repaired !== undefined) store.commit({ table, key, expected: present.revision, object: repaired });
  }
}

function withLost(present: UntypedObject, wanted: UntypedObject): UntypedObject | undefined {
  if (wanted['roleRef'] !== undefined) {
    const subjects = objectsOf(present['subjects']);
    const lost = objectsOf(wanted['subjects']).filter((each) => !subjects.some((other) => isDeepEqual(each, other)));
    return lost.length === 0 ? undefined : { ...present, subjects: [...subjects, ...lost] };
  }
  const lost = uncovered(readRules(present), readRules(wanted)).map((rule) =>
    Object.fromEntries(Object.entries(rule).filter(([, values]: [string, readonly string[]]) => values.length > 0)),
  );
  return lost.length === 0 ? undefined : { ...present, rules: [...objectsOf(present['rules']), ...lost] };
}
