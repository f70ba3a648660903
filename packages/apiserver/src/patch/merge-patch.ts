import { cloneJson, isObject, setOwn } from '@kctl/crd/internal/engine';
import { badRequest } from '../protocol/status.js';

/** The patch without its nulls, as added to a place without a value. */
function withoutNulls(patch: unknown): unknown {
  if (!isObject(patch)) return cloneJson(patch);
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(patch)) if (value !== null) setOwn(result, name, withoutNulls(value));
  return result;
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return cloneJson(patch);
  if (!isObject(target)) return withoutNulls(patch);
  const result: Record<string, unknown> = { ...target };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else setOwn(result, name, Object.hasOwn(result, name) ? merge(result[name], value) : withoutNulls(value));
  }
  return result;
}

/**
 * Applies a JSON merge patch (RFC 7386). The result shares the parts that the patch does not touch with the document,
 * so copy it before changing it.
 *
 * @throws StatusError 400 when the patch is not an object
 */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (!isObject(patch)) {
    const found = Array.isArray(patch) ? 'array' : patch === null ? 'null' : typeof patch;
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${found} into Go value of type map[string]interface {}`,
    );
  }
  return merge(document, patch);
}
