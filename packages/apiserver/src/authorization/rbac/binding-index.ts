import type { UntypedObject } from '@kctl/apimachinery';
import { at, objectsOf, stringOf, goQuoted } from '@kctl/crd/internal/engine';
import type { User } from '../../protocol/api-request.js';
import type { Store } from '../../storage/store.js';
import type { StoreEvent } from '../../storage/table.js';

export const rbacGroup = 'rbac.authorization.k8s.io';
export const roleTable: string = `${rbacGroup}/roles`;
export const clusterRoleTable: string = `${rbacGroup}/clusterroles`;
export const roleBindingTable: string = `${rbacGroup}/rolebindings`;
export const clusterRoleBindingTable: string = `${rbacGroup}/clusterrolebindings`;

/** The role that a binding refers to. */
export interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

/** One subject of one binding. */
export interface Grant {
  /** `RoleBinding "name/namespace"` or `ClusterRoleBinding "name"`. */
  readonly binding: string;
  /** As upstream names it in a reason. */
  readonly subject: string;
  readonly roleRef: RoleRef;
  /** Sorts bindings by name, and subjects within one. */
  readonly order: string;
}

/** Bindings by whom they bind. */
export interface BindingIndex {
  /** Bindings of a user by name or by group, in all namespaces ('') or in one. */
  grantsOf(user: User, namespace: string): Iterable<Grant>;
  /** Reads all bindings anew. */
  rebuild(): void;
}

/** One key for users and groups; a service account is a user. */
const userKey = (name: string): string => `u${name}`;
const groupKey = (name: string): string => `g${name}`;

interface Bound {
  readonly key: string;
  readonly grant: Grant;
}

function readBinding(object: UntypedObject, namespace: string): Bound[] {
  const { name = '' } = object.metadata;
  const roleRef = { kind: stringOf(at(object, 'roleRef', 'kind')), name: stringOf(at(object, 'roleRef', 'name')) };
  const binding =
    namespace === '' ? `ClusterRoleBinding ${goQuoted(name)}` : `RoleBinding ${goQuoted(`${name}/${namespace}`)}`;
  return objectsOf(object['subjects']).flatMap((subject, index) => {
    const kind = stringOf(subject['kind']);
    const subjectName = stringOf(subject['name']);
    const order = `${name}\0${String(index).padStart(6, '0')}`;
    const grant = { binding, subject: `${kind} ${goQuoted(subjectName)}`, roleRef, order };
    if (kind === 'User') return [{ key: userKey(subjectName), grant }];
    if (kind === 'Group') return [{ key: groupKey(subjectName), grant }];
    const home = stringOf(subject['namespace']) || namespace;
    if (kind !== 'ServiceAccount' || home === '') return [];
    const described = `ServiceAccount ${goQuoted(`${subjectName}/${home}`)}`;
    return [{ key: userKey(`system:serviceaccount:${home}:${subjectName}`), grant: { ...grant, subject: described } }];
  });
}

/** Grants of one scope (the cluster, or a namespace) by user and group. */
class Scope {
  readonly #bySubject = new Map<string, Map<string, Grant[]>>();
  readonly #keysOf = new Map<string, readonly string[]>();

  get isEmpty(): boolean {
    return this.#keysOf.size === 0;
  }

  remove(binding: string): void {
    for (const key of this.#keysOf.get(binding) ?? []) {
      const grants = this.#bySubject.get(key);
      grants?.delete(binding);
      if (grants?.size === 0) this.#bySubject.delete(key);
    }
    this.#keysOf.delete(binding);
  }

  add(binding: string, bound: readonly Bound[]): void {
    this.#keysOf.set(binding, [...new Set(bound.map(({ key }) => key))]);
    for (const { key, grant } of bound) {
      const grants = this.#bySubject.get(key) ?? new Map<string, Grant[]>();
      this.#bySubject.set(key, grants);
      const present = grants.get(binding);
      if (present === undefined) grants.set(binding, [grant]);
      else present.push(grant);
    }
  }

  *grantsOf(user: User): Iterable<Grant> {
    yield* this.#grantsOf(userKey(user.name));
    for (const group of user.groups) yield* this.#grantsOf(groupKey(group));
  }

  *#grantsOf(key: string): Iterable<Grant> {
    const grants = this.#bySubject.get(key);
    // The first subject of a binding that matches is as good as all of them.
    if (grants !== undefined) for (const [first] of grants.values()) if (first !== undefined) yield first;
  }
}

/** Keeps the bindings of a store by whom they bind; each commit of a binding costs what it binds. */
export function createBindingIndex(store: Store): BindingIndex {
  /** By namespace; '' is the cluster. */
  const scopes = new Map<string, Scope>();

  const put = (table: string, key: string, object: UntypedObject | undefined): void => {
    const namespace = table === roleBindingTable ? key.slice(0, key.indexOf('/')) : '';
    const name = namespace === '' ? key : key.slice(namespace.length + 1);
    let scope = scopes.get(namespace);
    if (scope === undefined) scopes.set(namespace, (scope = new Scope()));
    scope.remove(name);
    if (object !== undefined) scope.add(name, readBinding(object, namespace));
    if (scope.isEmpty) scopes.delete(namespace);
  };
  const rebuild = (): void => {
    scopes.clear();
    for (const table of [clusterRoleBindingTable, roleBindingTable])
      for (const [key, { object }] of store.table(table).scan({})) put(table, key, object);
  };
  store.subscribe(({ table, key, type, current }: StoreEvent) => {
    if (table !== clusterRoleBindingTable && table !== roleBindingTable) return;
    put(table, key, type === 'DELETED' ? undefined : current.object);
  });
  rebuild();
  return {
    rebuild,
    grantsOf: (user, namespace) => scopes.get(namespace)?.grantsOf(user) ?? [],
  };
}
