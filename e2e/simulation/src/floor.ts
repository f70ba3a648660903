// `node … e2e/simulation/src/floor.ts [hours] [rounds]`: what an hour costs at least. Records what reaches the replicas of
// simulated hours with 3 replicas, 50 objects and a fault every ten seconds, then runs the operator's own code again with the
// same answers: no server, no network, no faults, no rules; and a server with the same requests: no operator. Prints the CPU
// seconds per hour of all three, in turn. Faults that move clocks, hold a process up or make a server forget are left out
// of all, because a recording has none of that.
import { defaultFaultRates, simulate } from '@kctl/simulation';
import { Recorder, type Life } from './floor/recording.js';
import { Replay } from './floor/replay.js';
import { recordServer, type ServerRecording } from './floor/server-recording.js';
import { ServerReplay } from './floor/server-replay.js';
import { applicationOperator } from './operators/application.js';

const [hours = 1, rounds = 4] = process.argv.slice(2).map(Number);
const { operator, workload = () => Promise.resolve(), ...application } = applicationOperator(50);
const left = new Set(['stall', 'clock-jump', 'stale-list', 'compaction', 'server-restart-cold']);
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

interface Recorded {
  readonly seed: number;
  readonly lives: readonly Life[];
  readonly server: ServerRecording;
  readonly serverUuids: readonly string[];
  readonly simulatedHours: number;
}

async function record(seed: number): Promise<Recorded> {
  const recorder = new Recorder(operator);
  const recordings: ServerRecording[] = [];
  const { simulatedHours } = await simulate({
    ...common,
    operator: recorder.operator,
    workload: async (given) => {
      recorder.begin(given.clock);
      recordings.push(recordServer(given));
      await workload(given);
    },
    onStep: (step) => recorder.noteStep(step),
    only: ['no rule'],
    seeds: 1,
    seed,
  });
  const [server] = recordings;
  if (server === undefined) throw new Error('the workload of the recording was not called');
  return { seed, lives: recorder.lives, server, serverUuids: recorder.serverUuids, simulatedHours };
}

const recordings: Recorded[] = [];
for (let seed = 1; seed <= hours; seed++) recordings.push(await record(seed));
for (let round = 1; round <= rounds; round++)
  for (const { seed, lives, server, serverUuids, simulatedHours } of recordings) {
    const whole = await measured(() => world(seed));
    const counted = { requests: 0, divergences: 0, tasks: 0 };
    const own = await measured(async () => {
      Object.assign(counted, await new Replay(operator).run(lives));
      return simulatedHours;
    });
    const asked = { requests: 0, divergences: 0, bytes: 0 };
    const replay = new ServerReplay(server);
    await replay.prepare(application.resources);
    const answered = await measured(async () => {
      Object.assign(asked, await replay.run(server.requests, serverUuids));
      return simulatedHours;
    });
    await replay.stop();
    console.log(
      `round ${round}, seed ${seed}: ${whole.toFixed(2)} s of CPU per hour, the operator's own code ${own.toFixed(2)} (${counted.requests} requests, ${counted.divergences} not of the recording, ${counted.tasks} tasks), the server ${answered.toFixed(2)} (${asked.requests} requests, ${asked.divergences} answered otherwise, ${asked.bytes} bytes)`,
    );
  }
process.exit(); // what a crash cut off is left in the middle, with what keeps a process alive
