import { loggerOption, metricsOption, requestCounterOption, tracerOption } from '@kctl/telemetry';
import type { Debounce } from '@kctl/workqueue';
import {
  clockOption,
  functionOption,
  type OptionCheck,
  type OptionNames,
  optionProblems,
  optionWithMethods,
  shownValue,
} from '@kctl/wait';
import type { ControllerOptions, SafetyInterval } from './controller-options.js';
import type { HotLoopOptions } from './policy/hot-loop.js';
import type { RunLimit } from './policy/run-limit.js';

/** For an option that takes a `ReconcileObserver`. */
export const observerOption: OptionCheck = optionWithMethods(
  ['queued', 'started', 'settled'],
  'an observer, such as createInspection() of @kctl/inspection has',
);

/** The options of each object: complete by type, so that none can be forgotten here. */
const known = {
  controller: {
    name: true,
    reconciler: true,
    accessNeeds: true,
    retryPolicy: true,
    onError: true,
    rateLimiter: true,
    newQueue: true,
    requestKey: true,
    debounce: true,
    eventsDuringBackoff: true,
    runLimit: true,
    safetyInterval: true,
    hotLoop: true,
    logger: loggerOption,
    logFields: true,
    metrics: metricsOption,
    tracer: tracerOption,
    requestCounter: requestCounterOption,
    observer: observerOption,
    clock: clockOption,
    random: functionOption,
    maxConcurrentReconciles: true,
    cacheSyncTimeoutMs: true,
    recoverPanic: true,
    needLeaderElection: true,
    usePriorityQueue: true,
    enableWarmup: true,
    reconciliationTimeoutMs: true,
    skipNameValidation: true,
    leaderElectionScope: true,
  } satisfies OptionNames<ControllerOptions<never>>,
  debounce: { quietMs: true, maxMs: true } satisfies OptionNames<Debounce>,
  runLimit: { runs: true, perMs: true } satisfies OptionNames<RunLimit>,
  safetyInterval: { everyMs: true } satisfies OptionNames<SafetyInterval>,
  hotLoop: { maxPerMinute: true } satisfies OptionNames<HotLoopOptions>,
};

const nested = ['debounce', 'runLimit', 'safetyInterval', 'hotLoop'] as const;
const functions = ['onError', 'newQueue', 'requestKey', 'logFields', 'random'] as const;
const switches = [
  'recoverPanic',
  'needLeaderElection',
  'usePriorityQueue',
  'enableWarmup',
  'skipNameValidation',
] as const;
const eventPolicies: readonly unknown[] = [undefined, 'immediate', 'oncePerWindow'];

/** Everything of the wrong name or type among the options: programs in plain JavaScript have no compiler to find it. */
export function controllerProblems<R>(options: ControllerOptions<R>): string[] {
  const { retryPolicy, rateLimiter, eventsDuringBackoff } = options;
  return [
    ...optionProblems(options, known.controller),
    ...nested.flatMap((field) =>
      field === 'hotLoop' && options.hotLoop === false ? [] : optionProblems(options[field], known[field], field),
    ),
    ...functions.filter((field) => !isFunctionOrUnset(options[field])).map((field) => `${field} is not a function`),
    ...switches
      .filter((field) => !['boolean', 'undefined'].includes(typeof (options[field] ?? undefined)))
      .map((field) => `${field} ${shownValue(options[field])} is not valid: expected true or false`),
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

function isFunctionOrUnset(value: unknown): boolean {
  return value === undefined || typeof value === 'function';
}

function lacks(part: unknown, method: string): boolean {
  if (part === undefined) return false;
  return typeof part !== 'object' || part === null || typeof Reflect.get(part, method) !== 'function';
}
