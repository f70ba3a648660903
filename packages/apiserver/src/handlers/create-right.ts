import { forbiddenRequest, resourceAttributes, type Attributes } from '../authorization/attributes.js';
import type { ResourceCall, WriteBackend } from './call.js';

/** Attributes for authorizing the creation of the object that a path names. */
export function createAttributes({ path, user }: ResourceCall): Attributes {
  const { group, version, resource, namespace, name } = path;
  const [subresource = ''] = path.subresource.split('/');
  return resourceAttributes(user, 'create', { group, version, resource, subresource, namespace, name });
}

/** A PUT or an apply that turns out to create needs the right to create. Mirrors `withAuthorization`. @throws StatusError 403 */
export function requireCreateRight({ access }: WriteBackend, call: ResourceCall): void {
  const attributes = createAttributes(call);
  const { allowed, reason } = access.authorizer.authorize(attributes);
  if (!allowed) throw forbiddenRequest(attributes, reason);
}
