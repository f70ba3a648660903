import { objectOf } from '@kctl/crd/internal/engine';
import { parseJsonFast } from '../json/strict-json.js';
import { structOfKind } from './kinds.js';
import { encodeMessage } from './message.js';

/** The message of an object that is there as JSON. @throws RangeError for kinds that have no form in protobuf */
export function encodeText({
  apiVersion,
  kind,
  text,
}: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly text: string;
}): Uint8Array {
  const struct = structOfKind(apiVersion, kind);
  if (struct === undefined) throw new RangeError(`${apiVersion} ${kind} has no form in protobuf`);
  return encodeMessage(struct, objectOf(parseJsonFast(text)));
}
