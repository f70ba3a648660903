import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import {
  functionOption,
  numberProblem,
  optionProblems,
  shownType,
  shownValue,
  signalOption,
  unknownOptions,
  type OptionCheck,
} from '@kctl/options';
import { faultRatesOf, type FaultRates } from './faults/fault.js';
import { ruleNames } from './rules/rule-names.js';
import type { Step } from './timeline.js';
import type { Operator, ReplicaWorld, World } from './world.js';

/** Options of {@link simulate}. */
export interface SimulateOptions {
  /**
   * Makes the operator of one replica; it is called again each time a replica starts, so that what it keeps in memory is
   * lost with a crash. Hand it what the world has: `createManager({ ...world.options, … })`.
   */
  readonly operator: (world: ReplicaWorld) => Operator | Promise<Operator>;
  /** 100 at most. @default 2 */
  readonly replicas?: number;
  /** Objects that are there before anything else: CustomResourceDefinitions, namespaces. @default none */
  readonly resources?: readonly DeepReadonly<KubeObject>[];
  /**
   * Actions of users, which create, edit and delete over time, by `world.client` and `world.sleep`. Its randomness is
   * `world.random`, so that it does the same whatever the faults are.
   *
   * @default nothing
   */
  readonly workload?: (world: World) => Promise<void>;
  /**
   * Checks the expected state when faults have stopped; throws while it is not reached. It is called again every few
   * seconds until `convergeWithinMs` is over.
   *
   * @default nothing is checked
   */
  readonly settled?: (world: World) => Promise<void> | void;
  /** Number of runs, each from a separate seed. @default 20 */
  readonly seeds?: number;
  /** The first seed; with the environment variable KCTL_SEED that seed runs alone, whatever is given here. @default 1 */
  readonly seed?: number;
  /** How long faults go on in each run, in simulated minutes. @default 30 */
  readonly simulatedMinutes?: number;
  /** All at their default rates, none, or some, per simulated hour. @default 'all' */
  readonly faults?: 'all' | 'none' | FaultRates;
  /** Rules that count; others are not looked at. @default all */
  readonly only?: readonly string[];
  /** Rules that do not count. @default none */
  readonly except?: readonly string[];
  /** How long convergence may take after the last fault, in simulated ms. @default 300000 */
  readonly convergeWithinMs?: number;
  /** How long everything is watched for movement once it has converged, in simulated ms. @default 600000 */
  readonly quietMs?: number;
  /** How long a replica may take to stop, in simulated ms. @default 60000 */
  readonly stopWithinMs?: number;
  /**
   * Whether each run is compared with one of the same seed without faults. The final objects must be the same but for
   * identities, times and the names that the server makes. It costs a second run.
   *
   * @default true
   */
  readonly compare?: boolean;
  /**
   * Whether runs are repeated to check that they replay exactly, for the first seed, each, or none. @default 'first'
   */
  readonly verifyReplay?: boolean | 'first';
  /**
   * Runs in which live promises and event targets (abort signals) are counted before and after the quiet time, for the
   * rule `piles-up`. It is each, the first, or none. Each count collects the whole heap twice, which takes a second or
   * so in a test runner.
   *
   * @default false
   */
  readonly countObjects?: boolean | 'first';
  /** Whether a failing run is shrunk to fewer faults. @default true */
  readonly shrink?: boolean;
  /** Called when the run of a seed has ended without a violation. @default nothing */
  readonly onSeed?: (progress: SeedProgress) => void;
  /**
   * Called with each step of the first run of each seed with faults, as it happens, to observe it or to stop in a
   * debugger. It sees every step; a report has only the last ones. @default nothing
   */
  readonly onStep?: (step: Step) => void;
  /**
   * Ends the simulation, which rejects with the reason, between two steps. That of a vitest test ends with its timeout,
   * as in `it('…', ({ signal }) => simulate({ …, signal }))`. @default none
   */
  readonly signal?: AbortSignal;
}

/** Result of one seed. */
export interface SeedProgress {
  readonly seed: number;
  readonly simulatedHours: number;
  /** Faults that struck. */
  readonly faults: number;
  /** The trace hash. */
  readonly hash: string;
}

/** {@link SimulateOptions}, complete and valid. */
export interface CompiledOptions {
  readonly operator: SimulateOptions['operator'];
  readonly replicas: number;
  readonly resources: readonly DeepReadonly<KubeObject>[];
  readonly workload: (world: World) => Promise<void>;
  readonly settled: (world: World) => Promise<void> | void;
  readonly seeds: number;
  readonly seed: number;
  readonly faultMs: number;
  readonly rates: FaultRates;
  readonly isOn: (rule: string) => boolean;
  readonly convergeWithinMs: number;
  readonly quietMs: number;
  readonly stopWithinMs: number;
  readonly compare: boolean;
  readonly verifyReplay: boolean | 'first';
  readonly countObjects: boolean | 'first';
  readonly shrink: boolean;
  readonly onSeed: (progress: SeedProgress) => void;
  readonly onStep: (step: Step) => void;
  readonly signal: AbortSignal | undefined;
}

const booleanOption: OptionCheck = (name, value) =>
  typeof value === 'boolean' ? undefined : `${name} is ${shownType(value)}: expected true or false`;
const listOption: OptionCheck = (name, value) =>
  Array.isArray(value) ? undefined : `${name} is ${shownType(value)}: expected an array`;

/** A name that is nearly one of a rule would choose nothing. Others may be rules of the test. */
const rulesOption: OptionCheck = (name, value) => {
  const problem = listOption(name, value);
  if (problem !== undefined || !Array.isArray(value)) return problem;
  for (const rule of value as readonly unknown[]) {
    if (typeof rule !== 'string') return `${name} has ${shownType(rule)}: expected names of rules`;
    const [unknown] = unknownOptions({ [rule]: true }, ruleNames);
    const [, nearest] = /did you mean (.*)\?$/.exec(unknown ?? '') ?? [];
    if (nearest !== undefined) return `${name} has no rule ${JSON.stringify(rule)}: did you mean ${nearest}?`;
  }
  return undefined;
};

/** Rules that leave none would let every run pass. A rule of the test's own counts as one. */
function noRuleProblem({ only, except }: Pick<SimulateOptions, 'only' | 'except'>): string | undefined {
  if (!Array.isArray(only)) return undefined;
  const left = only.filter((rule) => !Array.isArray(except) || !except.includes(rule));
  if (left.length > 0) return undefined;
  return only.length === 0
    ? 'only is empty: no rule would count: leave it out, or name some'
    : 'except has all rules of only: no rule would count';
}

const resourcesOption: OptionCheck = (name, value) => {
  const problem = listOption(name, value);
  if (problem !== undefined || !Array.isArray(value)) return problem;
  const at = (value as readonly unknown[]).findIndex((each) => typeof each !== 'object' || each === null);
  return at < 0 ? undefined : `${name}[${at}] is ${shownType(value[at])}: expected an object with apiVersion and kind`;
};

const names = {
  operator: true,
  replicas: true,
  resources: resourcesOption,
  workload: functionOption,
  settled: functionOption,
  seeds: true,
  seed: true,
  simulatedMinutes: true,
  faults: true,
  only: rulesOption,
  except: rulesOption,
  convergeWithinMs: true,
  quietMs: true,
  stopWithinMs: true,
  compare: booleanOption,
  verifyReplay: true,
  countObjects: true,
  shrink: booleanOption,
  onSeed: functionOption,
  onStep: functionOption,
  signal: signalOption,
} satisfies Record<keyof SimulateOptions, true | OptionCheck>;

/** Each is an operator with separate caches, in one process. */
const mostReplicas = 100;

const runChoices: ReadonlySet<unknown> = new Set([undefined, true, false, 'first']);

function runsProblem(name: string, value: unknown): string | undefined {
  if (runChoices.has(value)) return undefined;
  return `${name} ${shownValue(value)} is not known: expected true, false or "first"`;
}

/** Fills in defaults. @throws TypeError naming every option that is not valid */
export function compileOptions(
  options: SimulateOptions,
  environment: Readonly<Record<string, string | undefined>>,
): CompiledOptions {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`simulate: expected options, not ${shownType(given)}`);
  const seedText = environment['KCTL_SEED'];
  const isReplay = seedText !== undefined && seedText !== '';
  const {
    replicas = 2,
    seeds = 20,
    simulatedMinutes = 30,
    convergeWithinMs = 300_000,
    quietMs = 600_000,
    stopWithinMs = 60_000,
    only,
    except = [],
  } = options;
  // A failure is run again by its seed alone, whichever the options begin with.
  const seed = isReplay ? Number(seedText) : (options.seed ?? 1);
  const seedRange = { most: Number.MAX_SAFE_INTEGER, integer: true } as const;
  const seedProblem = isReplay
    ? numberProblem('KCTL_SEED', seed, seedRange) && numberProblem('KCTL_SEED', seedText, seedRange)
    : numberProblem('seed', seed, seedRange);
  const problems = [
    ...optionProblems(options, names),
    ...[
      typeof options.operator === 'function'
        ? undefined
        : 'operator is not a function: expected one that makes the operator',
      noRuleProblem(options),
      runsProblem('verifyReplay', options.verifyReplay),
      runsProblem('countObjects', options.countObjects),
      numberProblem('replicas', replicas, { least: 1, most: mostReplicas, integer: true }),
      numberProblem('seeds', seeds, { least: 1, integer: true }),
      seedProblem,
      numberProblem('simulatedMinutes', simulatedMinutes, { above: 0 }),
      numberProblem('convergeWithinMs', convergeWithinMs, { above: 0 }),
      numberProblem('quietMs', quietMs, {}),
      numberProblem('stopWithinMs', stopWithinMs, { above: 0 }),
    ].filter((problem) => problem !== undefined),
  ];
  if (problems.length > 0) throw new TypeError(`simulate: ${problems.join('; ')}`);
  return {
    operator: options.operator,
    replicas,
    resources: options.resources ?? [],
    workload: options.workload ?? (() => Promise.resolve()),
    settled: options.settled ?? (() => undefined),
    seeds: isReplay ? 1 : seeds,
    seed,
    faultMs: simulatedMinutes * 60_000,
    rates: faultRatesOf(options.faults === undefined ? 'all' : options.faults),
    isOn: (rule) => (only === undefined || only.includes(rule)) && !except.includes(rule),
    convergeWithinMs,
    quietMs,
    stopWithinMs,
    compare: options.compare ?? true,
    verifyReplay: options.verifyReplay ?? 'first',
    countObjects: options.countObjects ?? false,
    shrink: options.shrink ?? true,
    onSeed: options.onSeed ?? (() => undefined),
    onStep: options.onStep ?? (() => undefined),
    signal: options.signal,
  };
}
