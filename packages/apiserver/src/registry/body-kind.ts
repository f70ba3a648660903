import { messageOf } from '@kctl/telemetry';
import { decodeStruct, isObject, type JsonObject } from '@kctl/crd/engine';
import { bodyStruct } from './builtin-table.js';
import { cannotBeHandled, requireApiVersion, requireObject, unknownFields, type ExpectedType } from './decode-head.js';
import type { Decoded, DecodeInput } from './resource.js';

/** Decodes a body that is not a resource: a Scale, a TokenRequest. @throws StatusError 400 */
export function decodeBodyKind(input: DecodeInput, expected: ExpectedType): Decoded {
  const { kind, apiVersion } = expected;
  const body = requireObject(input, expected);
  requireApiVersion(body, expected);
  const unknown: string[] = [];
  let decoded: JsonObject;
  try {
    decoded = decodeStruct(body, bodyStruct(kind), unknown);
  } catch (error) {
    throw cannotBeHandled(expected, kind, messageOf(error));
  }
  const metadata = isObject(decoded['metadata']) ? decoded['metadata'] : {};
  return { object: { ...decoded, kind, apiVersion, metadata }, problems: unknownFields(unknown) };
}
