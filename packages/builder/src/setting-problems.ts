import { optionProblems } from '@kctl/options';

/**
 * Settings that the definition specifies elsewhere, or that the manager has. Here they would silently have no effect.
 */
const elsewhere: Readonly<Record<string, string>> = {
  name: 'use named(name)',
  reconciler: 'give it to complete(reconciler)',
  logFields: 'use withLogFields(logFields)',
  logger: "a controller has its manager's",
  metrics: "a controller has its manager's",
  tracer: "a controller has its manager's",
  requestCounter: "a controller has its manager's",
  observer: "a controller has its manager's",
  clock: "a controller has its manager's",
};

/** Problems of the settings of `withOptions`, except those that the controller checks. */
export function settingProblems(options: object): string[] {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return optionProblems(given, {}).map((problem) => `withOptions: ${problem}`);
  return Object.keys(elsewhere)
    .filter((name) => Object.hasOwn(given, name) && Reflect.get(given, name) !== undefined)
    .map((name) => `withOptions: ${name} is not an option here: ${elsewhere[name] ?? ''}`);
}
