import { createEnvironment, eventually, type TestEnvironment } from '@kctl/testing';
import { sleep } from '@kctl/wait';
import { FakeClock } from '@kctl/wait/testing';
import { noopLogger, type ReconcileContext } from '@kctl/runtime';
import { createDirectory } from '@kctl/example-application-operator/directory.js';
import type { Report } from '../report.js';
import { lagMs, startLaggingClient } from './lagging-client.js';
import { readState } from './normalise.js';
import type { Flow, Subject, World } from './subject.js';
import { createTripwire, mishaps, type Mishap, type Tripwire } from './tripwire.js';

/** Options of {@link explore}. */
export interface ExploreOptions {
  readonly subjects: readonly Subject[];
  readonly report: Report;
  /** Whether the recovery from a crash crashes, too, after each of its writes. @default false */
  readonly twice?: boolean;
  /**
   * Where reconcilers read: from the server, or from a cache that is a little behind, as in a manager. Only with the
   * latter a reconciler that lives on meets its own past.
   *
   * @default 'live'
   */
  readonly reads?: 'live' | 'cached';
  /** How long the server may take to clean up before the end is taken for another, in ms. @default 1500 */
  readonly patienceMs?: number;
}

/** What an exploration came to. */
export interface Explored {
  readonly subject: string;
  readonly flow: string;
  /** How many writes the flow takes undisturbed. */
  readonly writes: number;
  /** How many mishaps were tried. */
  readonly tried: number;
}

const scenario = 'crash-points';
/** A reconciler that has not come to rest after so many runs goes in circles. */
const mostRuns = 40;

/**
 * Runs each flow undisturbed, then again with a mishap at its first, second, … last write, each time from the same
 * state and followed by a fresh reconciler: the end must be the same every time.
 */
export async function explore({
  subjects,
  report,
  twice = false,
  reads = 'live',
  patienceMs = 1500,
}: ExploreOptions): Promise<Explored[]> {
  await using environment = await createEnvironment({ server: 'embedded', crds: subjects.map(({ crd }) => crd) });
  const results: Explored[] = [];
  for (const subject of subjects)
    for (const flow of subject.flows) {
      const explorer = new Explorer(environment, { subject, flow, report, patienceMs, reads });
      results.push(await explorer.run(twice));
    }
  return results;
}

interface Task {
  readonly subject: Subject;
  readonly flow: Flow;
  readonly report: Report;
  readonly patienceMs: number;
  readonly reads: 'live' | 'cached';
}

/** One mishap. */
interface Strike {
  readonly at: number;
  readonly mishap: Mishap;
}

class Explorer {
  readonly #environment: TestEnvironment;
  readonly #server;
  readonly #task: Task;
  readonly #world: World;

  constructor(environment: TestEnvironment, task: Task) {
    const { client, embedded } = environment;
    if (embedded === undefined) throw new Error('crash points are explored on the embedded server');
    this.#environment = environment;
    this.#server = embedded;
    this.#task = task;
    this.#world = { client, directory: new Map(), clock: new FakeClock() };
  }

  async run(twice: boolean): Promise<Explored> {
    const { subject, flow } = this.#task;
    const empty = this.#server.snapshot();
    try {
      if (flow.prepare !== undefined) {
        await flow.prepare(this.#world);
        await this.#recover();
      }
      await flow.change(this.#world);
      const start = { objects: this.#server.snapshot(), entries: [...this.#world.directory] };
      const reset = (): void => {
        this.#server.restore(start.objects);
        this.#world.directory.clear();
        for (const [name, address] of start.entries) this.#world.directory.set(name, address);
      };
      const writes = await this.#recover();
      const expected = await this.#state();
      if (flow.leavesNothing === true && expected.length > 0)
        this.#violate('something is left', 'undisturbed', expected);
      const strikes = mishaps.flatMap((mishap) =>
        Array.from({ length: writes }, (_, index) => ({ mishap, at: index + 1 })),
      );
      let tried = 0;
      for (const first of strikes) {
        const isCrash = first.mishap === 'dieAfter';
        const seconds =
          twice && isCrash ? [undefined, ...strikes.filter(({ mishap }) => mishap === 'dieAfter')] : [undefined];
        for (const second of seconds) {
          reset();
          tried++;
          await this.#try(expected, second === undefined ? [first] : [first, second]);
        }
      }
      return { subject: subject.name, flow: flow.name, writes, tried };
    } finally {
      this.#server.restore(empty);
    }
  }

  async #try(expected: readonly string[], strikes: readonly Strike[]): Promise<void> {
    this.#task.report.addFaults(strikes.length);
    try {
      for (const { at, mishap } of strikes) await this.#live(createTripwire(at, mishap));
      // What the server does by itself, such as collecting garbage, may still be under way.
      await eventually(
        async () => {
          await this.#recover();
          if (difference(expected, await this.#state()).length > 0) throw new Error('the end is another');
        },
        { timeoutMs: this.#task.patienceMs },
      );
    } catch (error) {
      const step = strikes.map(({ at, mishap }) => `${mishap} write ${at}`).join(', then ');
      const message = error instanceof Error ? error.message : String(error);
      this.#violate(message, step, difference(expected, await this.#state()));
    }
  }

  #violate(message: string, step: string, context: readonly string[]): void {
    const { subject, flow, report } = this.#task;
    report.violate({ scenario, seed: 0, step, message: `${subject.name}, ${flow.name}: ${message}`, context });
  }

  #state(): Promise<string[]> {
    const { kinds, request } = this.#task.subject;
    return readState(this.#environment.client, request.namespace, { kinds, directory: this.#world.directory });
  }

  /** Undisturbed until nothing is left to do. Returns the number of writes. */
  async #recover(): Promise<number> {
    const tripwire = createTripwire(Infinity, 'refuse');
    await this.#live(tripwire);
    return tripwire.writes;
  }

  /** The life of one process: it reconciles until it dies, or until nothing is left to do. */
  async #live(tripwire: Tripwire): Promise<void> {
    const { subject, reads } = this.#task;
    const { clock, directory } = this.#world;
    const isCached = reads === 'cached';
    const writer = tripwire.client(this.#world.client);
    await using cached = isCached
      ? await startLaggingClient(this.#environment.client, writer, subject.kinds)
      : undefined;
    const reconcile = subject.start({
      client: cached?.client ?? writer,
      directory: tripwire.directory(createDirectory(directory)),
      clock,
    });
    const context = { signal: new AbortController().signal, logger: noopLogger } as ReconcileContext;
    let problem: unknown;
    let quietRuns = 0;
    for (let run = 0; run < mostRuns; run++) {
      const before = this.#server.revision;
      let isDone = false;
      try {
        const result = await reconcile(subject.request, context);
        isDone = result?.backoff !== true;
      } catch (error) {
        problem = error;
      }
      if (tripwire.isDead) return;
      await sleep(isCached && isDone ? 2 * lagMs : 2);
      // What reads old news, may find something to do when the newer ones are there.
      quietRuns = isDone && this.#server.revision === before ? quietRuns + 1 : 0;
      if (quietRuns > (isCached ? 1 : 0)) return;
    }
    throw new Error(`the reconciler does not come to rest in ${mostRuns} runs`, { cause: problem });
  }
}

/** The facts that differ, expected ones first. */
function difference(expected: readonly string[], actual: readonly string[]): string[] {
  return [
    ...expected.filter((line) => !actual.includes(line)).map((line) => `- ${line}`),
    ...actual.filter((line) => !expected.includes(line)).map((line) => `+ ${line}`),
  ];
}
