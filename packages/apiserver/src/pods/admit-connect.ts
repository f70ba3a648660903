import type { UntypedObject } from '@kctl/apimachinery';
import { equalJson } from '@kctl/crd/internal/engine';
import { connectOptionsOf } from '../admission/connect-options.js';
import { beginAdmission, type AdmittedCall } from '../handlers/admission.js';
import type { WriteBackend } from '../handlers/call.js';
import type { KindRef } from '../resource/resource.js';
import { badRequest } from '../protocol/status.js';

/**
 * A connection may last. Its request has no deadline, its webhooks have separate ones. This is the longest time of a
 * timer, in ms.
 */
const endless = 2 ** 31 - 1;

/** Target of a connection. */
export interface Connection {
  readonly subresource: string;
  /** The kind of its options. */
  readonly kind: KindRef;
  /** For a proxy, the path below it. */
  readonly path?: string;
}

/**
 * Admission of CONNECT, before anything is looked up. Returns the options that plugins have changed; undefined if they
 * are as in the request. Mirrors `ConnectResource`.
 *
 * @throws StatusError 400 for invalid options; errors by which plugins refuse
 */
export async function admitConnect(
  backend: WriteBackend,
  call: AdmittedCall,
  { subresource, kind, path = '' }: Connection,
): Promise<UntypedObject | undefined> {
  if (call.query.has('dryRun')) throw badRequest('dryRun is not supported');
  const asked = connectOptionsOf(kind, call.query, path);
  const operation = { operation: 'CONNECT', subresource, dryRun: false, options: () => null } as const;
  using admission = beginAdmission(backend, { ...call, remainingMs: endless }, operation);
  if (admission === undefined) return undefined;
  const { name } = call.path;
  const admitted = await admission.admit({ name, object: asked });
  await admission.validate({ name, object: admitted });
  return equalJson(admitted, asked) ? undefined : admitted;
}
