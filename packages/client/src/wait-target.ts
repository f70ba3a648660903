import { compileJsonPath } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import { exists, findConditionOf, isDeleted } from './conditions.js';

/** The condition to wait for, as in `kubectl wait --for`. Exactly one of the fields is set. */
export interface WaitTarget {
  /**
   * A condition of the status, `Ready`, or with its value, `Available=False`: letter case does not matter, and a condition that
   * was computed from an older generation does not count.
   */
  readonly condition?: string;
  /**
   * A path that finds something, `{.status.loadBalancer.ingress}`, or one value that is as given, `{.status.phase}=Running`.
   */
  readonly jsonPath?: string;
  /** Waits until there is no such object; of an object that was passed as read, until it is gone. */
  readonly deleted?: true;
  /** Waits until there is such an object. */
  readonly created?: true;
}

/** The fields of a {@link WaitTarget}. */
export const waitTargetNames = ['condition', 'jsonPath', 'deleted', 'created'] as const;

/**
 * Returns the target as a function of an object.
 *
 * @throws TypeError naming the target that is not valid
 */
export function targetCondition(
  { condition, jsonPath, deleted }: WaitTarget,
  uid: string | undefined,
): (object: unknown) => boolean {
  if (condition !== undefined) return conditionIs(condition);
  if (jsonPath !== undefined) return pathIs(jsonPath);
  if (deleted !== undefined) return isDeleted(uid);
  return exists();
}

function conditionIs(text: string): (object: unknown) => boolean {
  const [, type = '', status = 'True'] = /^([^=]+)(?:=(.+))?$/.exec(text) ?? [];
  if (type === '')
    throw new TypeError(`condition ${JSON.stringify(text)} is not valid: expected a type, Ready, or Ready=False`);
  return (object) => findConditionOf(object, type)?.status.toLowerCase() === status.toLowerCase();
}

function pathIs(text: string): (object: unknown) => boolean {
  // A filter has = in it, so that the value begins after the last brace.
  const [, path = '', wanted] = /^\s*(\{.*\}|[^=]*?)\s*(?:=(.*))?$/s.exec(text) ?? [];
  const problem = (reason: string): TypeError =>
    new TypeError(
      `jsonPath ${JSON.stringify(text)} is not valid: ${reason}: expected {.status.phase}=Running, or {.status.phase}`,
    );
  if (path === '') throw problem('it has no path');
  let find: (root: unknown) => unknown[];
  try {
    find = compileJsonPath(path);
  } catch (error) {
    throw problem(error instanceof Error ? error.message : String(error));
  }
  return (object) => {
    const found = object === undefined ? [] : find(object);
    if (wanted === undefined) return found.length > 0;
    const [value] = found;
    return found.length === 1 && !isJsonObject(value) && !Array.isArray(value) && String(value) === wanted;
  };
}
