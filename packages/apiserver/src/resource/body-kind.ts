import { messageOf } from '@kctl/telemetry/internal';
import { decodeStruct, isObject, stringOf, type JsonObject, goQuoted } from '@kctl/crd/internal/engine';
import { bodyStruct, isBuiltinKind } from './builtin-table.js';
import { cannotBeHandled, internalGroup, requireObject, unknownFields, type ExpectedType } from './decode-head.js';
import { requireIntegers } from './number-literals.js';
import type { Decoded, DecodeInput } from './resource.js';

/** Decodes a body that is not a resource, such as a Scale or a TokenRequest. @throws StatusError 400 */
export function decodeBodyKind(input: DecodeInput, expected: ExpectedType): Decoded {
  const { kind, apiVersion } = expected;
  const body = requireObject(input, expected);
  requireBodyType(body, expected);
  const unknown: string[] = [];
  let decoded: JsonObject;
  try {
    requireIntegers(body, bodyStruct(kind), input.literals ?? []);
    decoded = decodeStruct(body, bodyStruct(kind), unknown);
  } catch (error) {
    throw cannotBeHandled(expected, kind, messageOf(error));
  }
  const metadata = isObject(decoded['metadata']) ? decoded['metadata'] : {};
  return { object: { ...decoded, kind, apiVersion, metadata }, problems: unknownFields(unknown) };
}

/** Kinds that are bodies of subresources alone. */
const bodyKinds = new Set(['autoscaling/v1 Scale', 'authentication.k8s.io/v1 TokenRequest', 'policy/v1 Eviction']);

/** @throws StatusError 400 when the body states another type */
function requireBodyType(body: JsonObject, expected: ExpectedType): void {
  const apiVersion = stringOf(body['apiVersion']) || expected.apiVersion;
  const kind = stringOf(body['kind']) || expected.kind;
  if (kind === expected.kind && apiVersion === expected.apiVersion) return;
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  const isKnown = isBuiltinKind(apiVersion, kind) || bodyKinds.has(`${apiVersion} ${kind}`);
  const why = isKnown
    ? `converting (${version}.${kind}) to (${internalGroup(expected.group)}.${expected.kind}): unknown conversion`
    : `no kind ${goQuoted(kind)} is registered for version ${goQuoted(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
  throw cannotBeHandled({ ...expected, version }, kind, why);
}
