// `node … e2e/simulation/src/floor.ts [hours] [rounds]`: what an hour costs at least. Records what reaches the replicas of
// simulated hours with 3 replicas, 50 objects and a fault every ten seconds, then runs the operator's own code again with the
// same answers: no server, no network, no faults, no rules. Prints the CPU seconds per hour of both, in turn. Faults that
// move clocks or hold a process up are left out of both, because a recording has no clocks to move.
import { defaultFaultRates, simulate } from '@kctl/simulation';
import { Recorder, type Life } from './floor/recording.js';
import { Replay } from './floor/replay.js';
import { applicationOperator } from './operators/application.js';

const [hours = 1, rounds = 4] = process.argv.slice(2).map(Number);
const { operator, workload = () => Promise.resolve(), ...application } = applicationOperator(50);
const left = new Set(['stall', 'clock-jump']);
const faults = Object.fromEntries(Object.entries(defaultFaultRates).filter(([name]) => !left.has(name)));
const common = { ...application, replicas: 3, simulatedMinutes: 60, compare: false, verifyReplay: false, faults };

async function measured(work: () => Promise<number>): Promise<number> {
  const before = process.cpuUsage();
  const simulatedHours = await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6 / simulatedHours;
}

/** The world as users have it. */
async function world(seed: number): Promise<number> {
  const { simulatedHours } = await simulate({ ...common, operator, workload, seeds: 1, seed });
  return simulatedHours;
}

async function record(seed: number): Promise<{ readonly recorded: readonly Life[]; readonly simulatedHours: number }> {
  const recorder = new Recorder(operator);
  const { simulatedHours } = await simulate({
    ...common,
    operator: recorder.operator,
    workload: async (given) => {
      recorder.useClock(given.clock);
      await workload(given);
    },
    onStep: (step) => recorder.noteStep(step),
    only: ['no rule'],
    seeds: 1,
    seed,
  });
  return { recorded: recorder.lives, simulatedHours };
}

const recordings = [];
for (let seed = 1; seed <= hours; seed++) recordings.push({ seed, ...(await record(seed)) });
for (let round = 1; round <= rounds; round++)
  for (const { seed, recorded, simulatedHours } of recordings) {
    const whole = await measured(() => world(seed));
    const counted = { requests: 0, divergences: 0, tasks: 0 };
    const own = await measured(async () => {
      Object.assign(counted, await new Replay(operator).run(recorded));
      return simulatedHours;
    });
    const { requests, divergences, tasks } = counted;
    console.log(
      `round ${round}, seed ${seed}: ${whole.toFixed(2)} s of CPU per hour, the operator's own code ${own.toFixed(2)} (${requests} requests, ${divergences} not of the recording, ${tasks} tasks)`,
    );
  }
process.exit(); // what a crash cut off is left in the middle, with what keeps a process alive
