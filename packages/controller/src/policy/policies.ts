import type { Clock, Random } from '@kctl/wait';
import type { Debounce } from '@kctl/workqueue';
import type { ControllerMetrics } from '../reconciler/metrics.js';
import { HotLoopDetector, hotLoopPolicy, type HotLoopOptions } from './hot-loop.js';
import { KeptTimes } from './keep.js';
import type { ReconcilePolicy } from './policy.js';
import { RestWindows } from './rest-window.js';
import { RunLimiter, runLimitPolicy, type RunLimit } from './run-limit.js';
import { SafetyIntervals, type SafetyInterval } from './safety-interval.js';

/** The options of a controller that are policies. */
export interface PolicyOptions {
  /** Waits with changed objects until they are quiet; never delays deletions, retries or the initial list. @default none */
  readonly debounce?: Debounce;
  /**
   * Effect of an event on a key that rests after a failure. With `immediate` it runs at once, as in controller-runtime.
   * With `oncePerWindow` so does the first event of the rest; later ones wait for its end, so that a noisy dependent
   * does not hammer a broken object.
   *
   * @default 'immediate'
   */
  readonly eventsDuringBackoff?: 'immediate' | 'oncePerWindow';
  /**
   * Bounds how often one key runs, regardless of the trigger. Requests that come too early are deferred, not dropped.
   *
   * @default none
   */
  readonly runLimit?: RunLimit;
  /** Heals what no event reports. Only for objects that a source of the controller reports as its own. @default none */
  readonly safetyInterval?: SafetyInterval;
  /** Warns of keys that are reconciled in a loop; false disables it. @default on, 300 runs per minute */
  readonly hotLoop?: HotLoopOptions | false;
}

/** Dependencies of policies. */
export interface PolicyEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: ControllerMetrics;
}

/** The policies of one session. Their state ends with it. */
export interface Policies {
  /** From the outside in. */
  readonly around: readonly ReconcilePolicy[];
  /** For events on their way in; undefined if the option is not set. */
  readonly debounce: Debounce | undefined;
  readonly restWindows: RestWindows | undefined;
  readonly safetyIntervals: SafetyIntervals | undefined;
}

/**
 * The policies enabled by the options, in order. `designs/006-reconcile-loop.md` has the reason for the order.
 *
 * 1. The hot loop check evaluates actual runs, so it is outermost and sees no deferred run.
 * 2. The run limit puts back what comes too early before any other policy counts a run.
 * 3. A kept time stands beside whatever follows.
 * 4. The safety interval fills the gap if nothing follows.
 * 5. The rest window corrects the delay of a retry, right at the core.
 */
export function createPolicies(options: PolicyOptions, { clock, random, metrics }: PolicyEnvironment): Policies {
  const { hotLoop, runLimit, safetyInterval, eventsDuringBackoff, debounce } = options;
  const restWindows = eventsDuringBackoff === 'oncePerWindow' ? new RestWindows(clock) : undefined;
  const safetyIntervals = safetyInterval === undefined ? undefined : new SafetyIntervals(safetyInterval, random);
  const around: readonly (ReconcilePolicy | undefined)[] = [
    hotLoop === false ? undefined : hotLoopPolicy(new HotLoopDetector(clock, random, hotLoop), metrics),
    runLimit === undefined ? undefined : runLimitPolicy(new RunLimiter(runLimit), clock),
    new KeptTimes(clock),
    safetyIntervals,
    restWindows,
  ];
  return { around: around.filter((policy) => policy !== undefined), debounce, restWindows, safetyIntervals };
}
