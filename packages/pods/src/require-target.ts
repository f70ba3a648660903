import { requireClient, requireKind } from '@kctl/client/internal';
import { shownType, shownValue } from '@kctl/options';
import { PodTargetError } from './errors.js';

/**
 * Rejects an invalid client, or a target that is neither a pod nor an object with pods, before any request to the
 * server.
 *
 * @param what the function, at the beginning of the message
 * @throws TypeError naming the invalid argument; PodTargetError for an empty name or namespace
 */
export function requireTarget(what: string, client: unknown, target: unknown): void {
  requireClient(what, client, ['get', 'list']);
  requireTargetAlone(what, target);
}

/** {@link requireTarget}, for what talks to the server beside the methods of a client. */
export function requireTransportTo(what: string, client: unknown, target: unknown): void {
  requireTarget(what, client, target);
  if (typeof memberOf(memberOf(client, 'transport'), 'send') === 'function') return;
  throw new TypeError(`${what}: the client has no transport: expected one such as createHttpClient returns`);
}

function requireTargetAlone(what: string, target: unknown): void {
  const expected = 'expected { namespace, name }, a Pod as it was read, or { kind: Deployment, namespace, name }';
  if (typeof target !== 'object' || target === null)
    throw new TypeError(
      `${what}: the target is ${typeof target === 'string' ? shownValue(target) : shownType(target)}: ${expected}`,
    );
  const named = 'metadata' in target ? target.metadata : target;
  for (const field of ['namespace', 'name']) {
    const value = memberOf(named, field);
    if (value === '') throw new PodTargetError(`${what}: the target has no ${field}`);
    if (typeof value !== 'string')
      throw new TypeError(`${what}: the ${field} of the target is ${shownType(value)}: ${expected}`);
    if (!isSegment(value))
      throw new TypeError(
        `${what}: the ${field} of the target ${shownValue(value)} is not valid: expected a string (well-formed Unicode) without "/" and "%", not "." or ".."`,
      );
  }
  if (!('metadata' in target) && 'kind' in target) requireKind(what, target.kind);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Whether a name stays in its place of a path (client-go: `rest.IsValidPathSegmentName`). */
function isSegment(name: string): boolean {
  return name.isWellFormed() && name !== '.' && name !== '..' && !/[/%]/.test(name);
}
