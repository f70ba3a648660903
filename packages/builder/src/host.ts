/** Why something is not what a builder needs of a manager. Mirrors "must provide a non-nil Manager". */
export function findHostProblems(host: unknown, builder: string, parts: readonly string[]): string[] {
  if (typeof host !== 'object' || host === null)
    return [`must provide a non-nil Manager: ${builder}() was called with ${host === null ? 'null' : typeof host}`];
  if (typeof Reflect.get(host, 'then') === 'function')
    return [`${builder}() was called with a promise: give it the manager, \`await createManager(…)\``];
  const missing = parts.filter((part) => Reflect.get(host, part) === undefined);
  return missing.length === 0
    ? []
    : [`${builder}() was called with something that is not a manager: it has no ${missing.join(', no ')}`];
}
