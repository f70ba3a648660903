import { definedKeys, isJsonObject, isSameJson, isSelfWriting, ownMember, setMember } from '../json-object.js';
import type { JsonObject } from '../json-object.js';

/**
 * The JSON merge patch (RFC 7386) that turns `original` into `modified`: changed members, `null` for removed ones,
 * lists as a whole. `{}` if nothing differs. Pure.
 *
 * A merge patch cannot set a member to null. If `modified` has one, applying the patch removes it. Kubernetes treats
 * both alike.
 */
export function createMergePatch(original: object, modified: object): JsonObject {
  const patch: JsonObject = {};
  const before = asJsonObject(original);
  const after = asJsonObject(modified);
  for (const key of definedKeys(before)) if (ownMember(after, key) === undefined) setMember(patch, key, null);
  for (const key of definedKeys(after)) {
    const old = ownMember(before, key);
    const value = after[key];
    if (hasMembers(old) && hasMembers(value)) {
      const nested = createMergePatch(old, value);
      if (Object.keys(nested).length > 0) setMember(patch, key, nested);
    } else if (old === undefined || !isSameJson(old, value)) {
      setMember(patch, key, value);
    }
  }
  return patch;
}

/** The result of a JSON merge patch (RFC 7386). Pure; unchanged parts are shared with `target`. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!hasMembers(patch)) return patch;
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const key of definedKeys(patch)) {
    const value = patch[key];
    if (value === null) delete result[key];
    else setMember(result, key, applyMergePatch(ownMember(result, key), value));
  }
  return result;
}

/** Reports whether it is an object in JSON, in which a Date is a string. */
function hasMembers(value: unknown): value is Readonly<JsonObject> {
  return isJsonObject(value) && !isSelfWriting(value);
}

function asJsonObject(value: object): Readonly<JsonObject> {
  if (!isJsonObject(value)) throw new TypeError('createMergePatch: a list has no merge patch: expected two objects');
  return value;
}
