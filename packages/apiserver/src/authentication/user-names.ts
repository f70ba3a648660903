import { dns1123Label, dns1123Subdomain } from '@kctl/crd/internal/engine';
import type { User } from '../protocol/api-request.js';

/** Groups that the server itself puts users into. */
export const allAuthenticated = 'system:authenticated';
export const allUnauthenticated = 'system:unauthenticated';
export const nodesGroup = 'system:nodes';

/** The user of a request without credentials. */
export const anonymousUser: User = { name: 'system:anonymous', groups: [allUnauthenticated] };

const serviceAccountPrefix = 'system:serviceaccount:';
const nodePrefix = 'system:node:';

/** Extra keys of users that tokens name. */
export const extraKeys = {
  podName: 'authentication.kubernetes.io/pod-name',
  podUid: 'authentication.kubernetes.io/pod-uid',
  nodeName: 'authentication.kubernetes.io/node-name',
  nodeUid: 'authentication.kubernetes.io/node-uid',
  credentialId: 'authentication.kubernetes.io/credential-id',
} as const;

/** A service account by namespace and name. */
export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

/** The user name of a service account. */
export function serviceAccountUser({ namespace, name }: ServiceAccountName): string {
  return `${serviceAccountPrefix}${namespace}:${name}`;
}

/** The groups of a service account. */
export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/** The service account that a user name names, if any. */
export function serviceAccountOf(user: string): ServiceAccountName | undefined {
  if (!user.startsWith(serviceAccountPrefix)) return undefined;
  const [namespace = '', name = '', ...more] = user.slice(serviceAccountPrefix.length).split(':');
  if (more.length > 0 || dns1123Label(namespace).length > 0 || dns1123Subdomain(name).length > 0) return undefined;
  return { namespace, name };
}

/** The node that a user name names, if any. */
export function nodeOf(user: string): string | undefined {
  if (!user.startsWith(nodePrefix)) return undefined;
  const name = user.slice(nodePrefix.length);
  return dns1123Subdomain(name).length > 0 ? undefined : name;
}
