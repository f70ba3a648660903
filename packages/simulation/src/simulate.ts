import { compileOptions, type CompiledOptions, type SimulateOptions } from './options.js';
import { formatFailure } from './report.js';
import type { RunResult, RunVariation } from './run-result.js';
import { runSeed } from './run.js';
import { shrinkRun } from './shrink.js';
import type { Violation } from './violation.js';

/** Result of a simulation. */
export interface SimulationResult {
  readonly seeds: number;
  readonly simulatedHours: number;
  /** Faults that struck, over all runs. */
  readonly faults: number;
  /** The trace hash of each seed. */
  readonly hashes: ReadonlyMap<number, string>;
}

const failedCode = 'KCTL_SIMULATION_FAILED';

/** A rule was broken. The message is the report, with rule, advice, timeline, and how to run it again. */
export class SimulationFailedError extends Error {
  override readonly name = 'SimulationFailedError';
  readonly code: 'KCTL_SIMULATION_FAILED' = failedCode;
  readonly seed: number;
  readonly violation: Violation;
  /** How many faults the shrunk run has. */
  readonly faults: number;
  /** Seeds that were run, this one included. */
  readonly seedsRun: number;
  /** Simulated time until then. */
  readonly simulatedHours: number;

  constructor(
    report: string,
    fields: Pick<SimulationFailedError, 'seed' | 'violation' | 'faults' | 'seedsRun' | 'simulatedHours'>,
  ) {
    super(report);
    this.seed = fields.seed;
    this.violation = fields.violation;
    this.faults = fields.faults;
    this.seedsRun = fields.seedsRun;
    this.simulatedHours = fields.simulatedHours;
  }
}

/** Whether an error is a {@link SimulationFailedError}, also one of another copy of this package. */
export function isSimulationFailed(error: unknown): error is SimulationFailedError {
  return error instanceof Error && 'code' in error && error.code === failedCode;
}

/**
 * Runs an operator, in several replicas and against an API server, in virtual time. There is one run for each seed,
 * each with the workload, with faults, and with rules that are checked all the time. Everything happens in this thread,
 * without sockets and without waiting; a seed gives the same run each time. One simulation at a time in a process.
 *
 * @throws SimulationFailedError with the report of the first run that breaks a rule, shrunk to few faults
 * @throws TypeError naming every option that is not valid
 * @throws Error naming the seed if the workload rejects, or never ends
 * @throws the reason of `signal` once that is aborted
 */
export async function simulate(options: SimulateOptions): Promise<SimulationResult> {
  const compiled = compileOptions(options, process.env);
  const hashes = new Map<number, string>();
  let simulatedMs = 0;
  let faults = 0;
  for (let index = 0; index < compiled.seeds; index++) {
    compiled.signal?.throwIfAborted();
    const seed = compiled.seed + index;
    const variation = await undisturbed(compiled, seed);
    const countObjects = compiled.countObjects === true || (index === 0 && compiled.countObjects === 'first');
    const result = await runSeed(compiled, seed, { ...variation, countObjects, onStep: compiled.onStep });
    simulatedMs += result.simulatedMs;
    faults += result.faults;
    hashes.set(seed, result.hash);
    if (result.violation !== undefined)
      throw await failureOf(compiled, result, {
        variation: { ...variation, countObjects },
        seedsRun: index + 1,
        simulatedHours: simulatedMs / 3_600_000,
      });
    if (compiled.verifyReplay === true || (index === 0 && compiled.verifyReplay === 'first'))
      await verifyReplay(compiled, result, variation);
    const { hash } = result;
    compiled.onSeed({ seed, simulatedHours: result.simulatedMs / 3_600_000, faults: result.faults, hash });
  }
  return { seeds: compiled.seeds, simulatedHours: simulatedMs / 3_600_000, faults, hashes };
}

/** State of the objects without faults. If that run breaks a rule, no faults are needed to break it. */
async function undisturbed(options: CompiledOptions, seed: number): Promise<RunVariation> {
  if (!options.compare || Object.keys(options.rates).length === 0) return {};
  const { state, violation } = await runSeed(options, seed, { plan: [] });
  return violation === undefined ? { expected: state } : { plan: [] };
}

interface FailureFacts {
  readonly variation: RunVariation;
  readonly seedsRun: number;
  readonly simulatedHours: number;
}

async function failureOf(
  options: CompiledOptions,
  failing: RunResult,
  { variation, seedsRun, simulatedHours }: FailureFacts,
): Promise<Error> {
  const shrunk = options.shrink ? await shrinkRun(options, failing, variation) : failing;
  const { violation } = shrunk;
  if (violation === undefined) return new Error(`seed ${failing.seed} failed, and does not fail again`);
  const report = formatFailure(shrunk, shrunk === failing ? undefined : failing);
  return new SimulationFailedError(report, {
    seed: shrunk.seed,
    violation,
    faults: shrunk.plan.length,
    seedsRun,
    simulatedHours,
  });
}

/** @throws Error naming the first step that differs */
async function verifyReplay(options: CompiledOptions, result: RunResult, variation: RunVariation): Promise<void> {
  const again = await runSeed(options, result.seed, variation);
  if (again.hash === result.hash) return;
  const at = result.steps.findIndex((step, index) => JSON.stringify(step) !== JSON.stringify(again.steps[index]));
  throw new Error(
    `seed ${result.seed} does not replay: the runs differ ${at < 0 ? 'in steps that are no longer kept' : `at ${JSON.stringify(result.steps[at])}, then ${JSON.stringify(again.steps[at])}`}. Something of the operator is outside of the world: module-level state, real I/O, or an order that depends on memory addresses`,
  );
}
