// `node … e2e/simulation/src/speed.ts [seeds]`: CPU seconds per simulated hour with 3 replicas, 50 objects and a fault
// every ten seconds. The first seeds include what the compiler of V8 takes.
import { simulate } from '@kctl/simulation';
import { applicationOperator } from './operators/application.js';

const seeds = Number(process.argv[2] ?? 6);
const options = { ...applicationOperator(50), replicas: 3, simulatedMinutes: 60, compare: false, verifyReplay: false };
let before = process.cpuUsage();
await simulate({
  ...options,
  seeds,
  onSeed: ({ seed, simulatedHours, faults }) => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const perHour = (user + system) / 1e6 / simulatedHours;
    console.log(`seed ${seed}: ${perHour.toFixed(2)} s of CPU per hour, ${faults} faults`);
  },
});
