import { isObject, type JsonObject } from '@kctl/crd/internal/engine';
import { badRequest, entityTooLarge, unprocessablePatch } from '../protocol/status.js';
import { applyOperations, JsonPatchError } from './json-patch-operations.js';

const maxOperations = 10_000;

function goType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** The types of an operation are checked before anything is applied. */
function requireOperation(source: unknown): JsonObject {
  const fail = (value: unknown, target: string): Error =>
    badRequest(`error decoding patch: json: cannot unmarshal ${goType(value)} into Go ${target}`);
  if (source === null) return {};
  if (!isObject(source)) throw fail(source, 'value of type handlers.jsonPatchOp');
  for (const name of ['op', 'path', 'from']) {
    const value = source[name];
    if (value === undefined || value === null || typeof value === 'string') continue;
    throw fail(value, `struct field jsonPatchOp.${name} of type string`);
  }
  return source;
}

/**
 * Applies the JSON patch of a request to a copy of a document, see {@link applyOperations}.
 *
 * @throws StatusError 400 for an invalid patch, 413 for more than 10,000 operations or too much work, 422 if it does
 * not apply or copies more than 3 MiB
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goType(patch)} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  const operations = patch.map(requireOperation);
  if (operations.length > maxOperations) {
    throw entityTooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`,
    );
  }
  try {
    return applyOperations(document, operations);
  } catch (error) {
    throw error instanceof JsonPatchError ? unprocessablePatch() : error;
  }
}
