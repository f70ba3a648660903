import { isAlreadyExists } from '@kctl/apimachinery';
import { SubjectAccessReview } from '@kctl/apimachinery/kinds/authorization.k8s.io/v1';
import { Namespace, ServiceAccount } from '@kctl/apimachinery/kinds/core/v1';
import {
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
  type PolicyRule,
} from '@kctl/apimachinery/kinds/rbac.authorization.k8s.io/v1';
import { apply } from '@kctl/client';
import type { Connection, HttpClient } from '@kctl/client-http';
import {
  compareAccess,
  createAccessRecorder,
  formatAccess,
  generateRbac,
  type AccessNeed,
  type AccessRecorder,
  type RbacObject,
} from '@kctl/rbac';
import { requireOptions, type OptionNames } from '@kctl/options';
import { eventually } from './eventually.js';
import type { TestEnvironment } from './environment.js';

/** Options of {@link createOperatorAccess}. */
export interface OperatorAccessOptions {
  /** Names the service account, the roles and the bindings. */
  readonly name: string;
  /** Namespace of the service account; created if it is missing. @default `<name>-system` */
  readonly namespace?: string;
}

const optionNames: OptionNames<OperatorAccessOptions> = { name: true, namespace: true };

/**
 * The identity of an operator in a test, with no more rights than it is granted, and a record of those that it uses.
 */
export interface OperatorAccess {
  /** Of the service account; every request is recorded. */
  readonly connection: Connection;
  readonly namespace: string;
  readonly recorder: AccessRecorder;
  /** Makes the service account, and the roles that `generateRbac` of @kctl/rbac makes; resolves when they are in force. */
  grant(needs: readonly AccessNeed[]): Promise<void>;
  /**
   * Returns the rights that were used and not granted, and those that were granted and never used, a line each; '' if
   * the two are equal.
   *
   * @param needs @default those of the last {@link OperatorAccess.grant}
   */
  report(needs?: readonly AccessNeed[]): string;
}

/**
 * Lets an operator act as its service account. The server has to evaluate rights, so it must be a real one, or the
 * embedded one with `authorization: 'RBAC'`.
 *
 * @example
 * ```ts
 * import { createManager } from '@kctl/runtime';
 * import { createEnvironment, createOperatorAccess } from '@kctl/testing';
 *
 * await using environment = await createEnvironment({ embedded: { authorization: 'RBAC' } });
 * const access = createOperatorAccess(environment, { name: 'websites' });
 * const manager = await createManager({ connection: access.connection });
 * // … controllers …
 * await access.grant(manager.accessNeeds());
 * // … run it, and do what makes it do everything …
 * if (access.report() !== '') throw new Error(access.report());
 * ```
 */
export function createOperatorAccess(
  environment: Pick<TestEnvironment, 'client' | 'connection'>,
  options: OperatorAccessOptions,
): OperatorAccess {
  requireOptions('createOperatorAccess', options, optionNames);
  const { name, namespace = `${name}-system` } = options;
  const { client } = environment;
  const recorder = createAccessRecorder();
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  const userName = `system:serviceaccount:${namespace}:${name}`;
  let granted: readonly AccessNeed[] = [];
  return {
    connection: {
      ...environment.connection,
      namespace,
      user: { ...environment.connection.user, impersonate: { userName, groups } },
      observe: recorder.observe,
    },
    namespace,
    recorder,
    grant: async (needs) => {
      granted = needs;
      const objects = generateRbac(needs, { name, namespace });
      const namespaces = new Set([namespace, ...objects.flatMap(({ metadata }) => metadata.namespace ?? [])]);
      for (const each of namespaces) await ensureNamespace(client, each);
      for (const object of objects) await applyObject(client, object);
      await untilInForce(client, objects, { userName, groups });
    },
    report: (needs = granted) => formatAccess(compareAccess(needs, recorder.uses())),
  };
}

async function ensureNamespace(client: HttpClient, name: string): Promise<void> {
  try {
    await client.create(Namespace, { metadata: { name } });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

const kinds = [ServiceAccount, ClusterRole, ClusterRoleBinding, Role, RoleBinding];

async function applyObject(client: HttpClient, object: RbacObject): Promise<void> {
  const kind = kinds.find((each) => each.kind === object.kind);
  const { name, namespace } = object.metadata;
  if (kind === undefined || name === undefined) return;
  const metadata = { ...object.metadata, name, ...(namespace === undefined ? {} : { namespace }) };
  await apply(client, kind, { ...object, metadata }, { fieldOwner: 'kctl-testing', force: true });
}

/** Roles are in force when the authorizer of the server, which has a cache, has seen them. */
async function untilInForce(
  client: HttpClient,
  objects: readonly RbacObject[],
  { userName, groups }: { readonly userName: string; readonly groups: readonly string[] },
): Promise<void> {
  for (const object of objects) {
    const [rule] = 'rules' in object ? (object.rules ?? []) : [];
    if (rule === undefined) continue;
    const resourceAttributes = attributesOf(rule, object.metadata.namespace);
    await eventually(async () => {
      const { status } = await client.create(SubjectAccessReview, {
        metadata: {},
        spec: { user: userName, groups: [...groups], resourceAttributes },
      });
      if (status?.allowed !== true) throw new Error(`the rights of ${userName} are not in force yet`);
    });
  }
}

function attributesOf(rule: PolicyRule, namespace: string | undefined): Record<string, string> {
  const [resource = '', subresource] = (rule.resources?.[0] ?? '').split('/');
  const [name] = rule.resourceNames ?? [];
  return {
    verb: rule.verbs[0] ?? '',
    group: rule.apiGroups?.[0] ?? '',
    resource,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}
