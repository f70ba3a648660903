import { shownType, shownValue } from '@kctl/options';

/** Members that are called if present. */
const methods = ['warmup', 'waitForReady', 'waitUntilCold', 'sources', 'adopt', 'accessNeeds', 'setPaused'] as const;
const texts = ['name', 'leaderElectionScope'] as const;
const groups: readonly unknown[] = [undefined, 'servers', 'webhooks', 'caches', 'others', 'leader'];

/** @throws TypeError when a manager could not run it */
export function requireRunnable(runnable: unknown): void {
  if (!isObject(runnable) || !('run' in runnable) || typeof runnable.run !== 'function')
    throw new TypeError('manager.add: the runnable is not valid: expected a function, or an object with run(signal)');
  const group: unknown = 'group' in runnable ? runnable.group : undefined;
  if (!groups.includes(group))
    throw new TypeError(
      `manager.add: group ${JSON.stringify(group)} is not valid: expected one of ${groups.slice(1).join(', ')}`,
    );
  const needed: unknown = 'needLeaderElection' in runnable ? runnable.needLeaderElection : undefined;
  // 'no' would be taken for true, so only false counts as false.
  if (needed !== undefined && typeof needed !== 'boolean')
    throw new TypeError(`manager.add: needLeaderElection ${shownValue(needed)} is not valid: expected true or false`);
  for (const field of methods) {
    const method: unknown = Reflect.get(runnable, field);
    if (method !== undefined && typeof method !== 'function')
      throw new TypeError(`manager.add: ${field} is ${shownType(method)}: expected a function`);
  }
  for (const field of texts) {
    const text: unknown = Reflect.get(runnable, field);
    if (text !== undefined && typeof text !== 'string')
      throw new TypeError(`manager.add: ${field} ${shownValue(text)} is not valid: expected a string`);
  }
}

/** @throws TypeError when a probe could not call it, or could not name it */
export function requireCheck(name: unknown, check: unknown): void {
  if (typeof name !== 'string' || name === '')
    throw new TypeError(`a health check needs a name: ${JSON.stringify(name) ?? 'undefined'} is not valid`);
  if (typeof check !== 'function')
    throw new TypeError(`the health check ${JSON.stringify(name)} is not valid: expected a function`);
}

/** @throws TypeError when no request could reach it, or it could not answer one */
export function requireExtraHandler(path: unknown, handler: unknown): void {
  if (typeof path !== 'string' || !/^\/[^?#]*$/.test(path))
    throw new TypeError(
      `manager.addMetricsHandler: path ${shownValue(path)} is not valid: expected one such as "/debug/cache", or "/debug/" for all below it`,
    );
  if (typeof handler !== 'function')
    throw new TypeError(
      `manager.addMetricsHandler: the handler of ${path} is ${shownType(handler)}: expected a function`,
    );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
