import type { ResourceDefinition } from '../resource/resource.js';
import { unclassified } from '../protocol/status.js';
import { encodeObject } from '../protobuf/envelope.js';
import { structOfKind } from '../protobuf/kinds.js';
import { objectText } from '../storage/long-object.js';
import type { ObjectVersion } from '../storage/version.js';

/** etcd's `--max-request-bytes`. */
const maxRequestBytes = 1.5 * 1024 * 1024;
/** Largest message that etcd's client sends. */
const maxMessageBytes = 2 * 1024 * 1024;
/** Content of a transaction besides the object and its key, which stands in it twice. */
const messageOverhead = 25;
/** Bytes that etcd adds to a transaction before it checks the length. */
const requestOverhead = 14;

/** Bytes that upstream would keep of an object, as protobuf for built-in kinds and as JSON for others. */
function storedLength({ object }: ObjectVersion, text: string): number {
  const { apiVersion = '', kind = '', metadata } = object;
  const length = Buffer.byteLength(text);
  if (length > maxRequestBytes && structOfKind(apiVersion, kind) !== undefined) return encodeObject(object).length;
  const { resourceVersion = '' } = metadata;
  // It is not kept in the object, and a line break ends the JSON.
  return length - `"resourceVersion":"${resourceVersion}",`.length + 1;
}

/** Upstream's message for an object that etcd does not take; undefined if it takes it. */
export function sizeProblem(
  { plural, group, isCustom }: Pick<ResourceDefinition, 'plural' | 'group' | 'isCustom'>,
  version: ObjectVersion,
  key: string,
): string | undefined {
  const { textLength } = version;
  // No character has more than three bytes.
  if (textLength * 3 < maxRequestBytes) return undefined;
  const path = `/registry/${isCustom ? `${group}/` : ''}${plural}/${key}`;
  const message = storedLength(version, objectText(version.object)) + 2 * path.length + messageOverhead;
  if (message > maxMessageBytes)
    return `rpc error: code = ResourceExhausted desc = trying to send message larger than max (${message} vs. ${maxMessageBytes})`;
  return message + requestOverhead > maxRequestBytes ? 'etcdserver: request is too large' : undefined;
}

/** Ends a commit of an object that etcd would not take. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';

  /** As upstream answers it. */
  toStatus(): Error {
    return unclassified(this.message);
  }
}
