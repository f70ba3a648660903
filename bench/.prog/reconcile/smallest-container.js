// The smallest limit on memory that a program runs with, as a container has it: smallest-container.ts <command…>
// Prints it in steps of 2 MiB, found by halving. The program's own file counts: no process has read it before.
import { join } from 'node:path';
import { endsWell, unreadCopy } from '../harness/container.js';
import { cpuMs } from '../informer/usage.js';
import { printSample } from '../harness/measure.js';

const stepMib = 2;
const largestMib = 256;
const smallestMib = 16;
const [program = '', ...args] = process.argv.slice(2);
const folder = join(import.meta.dirname, '..', '..', '.cache');
await using copy = unreadCopy(program, folder);

async function took(limitMib        , timeoutMs        )                              {
  await copy.evict();
  const start = performance.now();
  return (await endsWell([copy.path, ...args], limitMib, timeoutMs)) ? performance.now() - start : undefined;
}

const start = { wall: performance.now(), cpu: cpuMs() };
const unhurried = await took(largestMib, 60_000);
if (unhurried === undefined) throw new Error(`${program} does not run within ${largestMib} MiB`);
// A program that reads its own code again and again still runs, but no one would leave it so.
const patienceMs = Math.ceil(2 * unhurried) + 1000;
let enough = largestMib;
let tooLittle = smallestMib;
while (enough - tooLittle > stepMib) {
  const between = Math.round((enough + tooLittle) / 2 / stepMib) * stepMib;
  if ((await took(between, patienceMs)) === undefined) tooLittle = between;
  else enough = between;
}
printSample({
  ops: 1,
  wallMs: performance.now() - start.wall,
  cpuMs: cpuMs() - start.cpu,
  ...{ smallestMib: enough },
});
