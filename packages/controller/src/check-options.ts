import { loggerOption, metricsOption, requestCounterOption, tracerOption } from '@kctl/telemetry/internal';
import type { Debounce } from '@kctl/workqueue';
import {
  booleanOption,
  clockOption,
  listOption,
  numberOption,
  type OptionCheck,
  type OptionNames,
  optionProblems,
  optionWithMethods,
  shownType,
  shownValue,
  textOption,
} from '@kctl/options';
import type { ControllerOptions, ControllerSettings } from './controller-options.js';
import type { SafetyInterval } from './policy/safety-interval.js';
import type { HotLoopOptions } from './policy/hot-loop.js';
import type { RunLimit } from './policy/run-limit.js';

/** For an option that takes a `ReconcileObserver`. */
export const observerOption: OptionCheck = optionWithMethods(
  ['queued', 'started', 'settled'],
  'an observer, such as createInspection() of @kctl/inspection has',
);

const hookOption: OptionCheck = (name, value) =>
  typeof value === 'function' ? undefined : `${name} is not a function: it is ${shownType(value)}`;

/** The options that a manager may give to all its controllers. */
export const controllerSettingNames: OptionNames<ControllerSettings> = {
  maxConcurrentReconciles: numberOption({ integer: true }),
  cacheSyncTimeoutMs: numberOption(),
  recoverPanic: booleanOption,
  needLeaderElection: booleanOption,
  usePriorityQueue: booleanOption,
  enableWarmup: booleanOption,
  reconciliationTimeoutMs: numberOption(),
  skipNameValidation: booleanOption,
  leaderElectionScope: textOption,
};

/** The options of each object, complete by type, so that none can be forgotten here. */
const known = {
  controller: {
    name: true,
    reconciler: true,
    accessNeeds: listOption('a list of rights, see accessTo of @kctl/rbac'),
    planners: listOption('a list of planners, such as children of @kctl/dependents'),
    retryPolicy: true,
    onError: hookOption,
    rateLimiter: true,
    newQueue: hookOption,
    requestKey: hookOption,
    debounce: true,
    eventsDuringBackoff: true,
    runLimit: true,
    safetyInterval: true,
    hotLoop: true,
    logger: loggerOption,
    logFields: hookOption,
    metrics: metricsOption,
    tracer: tracerOption,
    requestCounter: requestCounterOption,
    observer: observerOption,
    clock: clockOption,
    random: hookOption,
    ...controllerSettingNames,
    // `resolveSettings` validates these together with the inherited ones.
    maxConcurrentReconciles: true,
    cacheSyncTimeoutMs: true,
    reconciliationTimeoutMs: true,
  } satisfies OptionNames<ControllerOptions<never>>,
  debounce: { quietMs: true, maxMs: true } satisfies OptionNames<Debounce>,
  runLimit: { runs: true, perMs: true } satisfies OptionNames<RunLimit>,
  safetyInterval: { everyMs: true } satisfies OptionNames<SafetyInterval>,
  hotLoop: { maxPerMinute: true } satisfies OptionNames<HotLoopOptions>,
};

const nested = ['debounce', 'runLimit', 'safetyInterval', 'hotLoop'] as const;
const eventPolicies: readonly unknown[] = [undefined, 'immediate', 'oncePerWindow'];

/** Every option of the wrong name or type, because programs in plain JavaScript have no compiler to find it. */
export function controllerProblems<R>(options: ControllerOptions<R>): string[] {
  const { retryPolicy, rateLimiter, eventsDuringBackoff } = options;
  return [
    ...optionProblems(options, known.controller),
    ...nested.flatMap((field) =>
      field === 'hotLoop' && options.hotLoop === false ? [] : optionProblems(options[field], known[field], field),
    ),
    ...(lacks(retryPolicy, 'decide')
      ? ['retryPolicy is not valid: expected one with decide(), such as createRetryPolicy(options)']
      : []),
    ...(lacks(rateLimiter, 'when') ? ['rateLimiter is not valid: expected one with when() and forget()'] : []),
    ...(eventPolicies.includes(eventsDuringBackoff)
      ? []
      : [
          `eventsDuringBackoff ${shownValue(eventsDuringBackoff)} is not valid: expected "immediate" or "oncePerWindow"`,
        ]),
  ];
}

function lacks(part: unknown, method: string): boolean {
  if (part === undefined) return false;
  return typeof part !== 'object' || part === null || typeof Reflect.get(part, method) !== 'function';
}
