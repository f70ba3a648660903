import type { UntypedObject } from '@kctl/apimachinery';
import { grantingTables } from '../authorization/rbac/escalation.js';
import type { WriteBackend, ResourceCall } from './call.js';

/** A role or binding must not give its writer, or others, what the writer may not do. @throws StatusError 403, 404 */
export function checkGrant(
  { access }: WriteBackend,
  { definition, path, user }: ResourceCall,
  object: UntypedObject,
  old: UntypedObject | undefined,
): void {
  if (access.checkEscalation === undefined || !grantingTables.has(definition.storageKey)) return;
  access.checkEscalation({
    user,
    table: definition.storageKey,
    resource: definition.plural,
    namespace: path.namespace,
    urlName: path.name,
    object,
    old,
  });
}
