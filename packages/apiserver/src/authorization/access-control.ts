import type { Store } from '../storage/store.js';
import { alwaysAllow, type Authorizer } from './authorizer.js';
import { createEscalationCheck, type EscalationCheck } from './rbac/escalation.js';
import { createRbacAuthorizer } from './rbac/rbac-authorizer.js';

/** The mode of authorization, either by refusing nothing or by the Roles and bindings of the server. */
export type AuthorizationMode = 'AlwaysAllow' | 'RBAC';

/** The authorizer of a server, and what goes with it. */
export interface AccessControl {
  readonly mode: AuthorizationMode;
  readonly authorizer: Authorizer;
  /** Checks writes of roles and bindings; absent if nothing is refused. */
  readonly checkEscalation?: EscalationCheck;
  /** Rereads the objects that decisions are based on, after a load or a restore. */
  rebuild(): void;
}

/** The access control of a store. */
export function createAccessControl(mode: AuthorizationMode, store: Store): AccessControl {
  if (mode === 'AlwaysAllow') return { mode, authorizer: alwaysAllow, rebuild: () => undefined };
  const rbac = createRbacAuthorizer(store);
  return {
    mode,
    authorizer: rbac,
    checkEscalation: createEscalationCheck(rbac),
    rebuild: () => rbac.rebuild(),
  };
}
