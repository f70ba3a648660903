/** How long the built command takes until it is ready: `node packages/apiserver/scripts/start-time.mjs [count]`. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const command = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
const count = Number(process.argv[2] ?? 20);

/** CPU time of all threads of a process, in ms; undefined where the system does not tell. */
function cpuMs(pid) {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const times = tasks.map((task) =>
      Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
    );
    return times.reduce((sum, time) => sum + time, 0) / 1e6;
  } catch {
    return undefined;
  }
}

async function start(args) {
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(`the server ended with ${code} before it was ready: build it first`)),
    );
  });
  const figures = { wall: performance.now() - began, cpu: cpuMs(child.pid) };
  child.kill('SIGTERM');
  await ended;
  return figures;
}

function print(name, runs) {
  const line = (values) => {
    const sorted = values.toSorted((a, b) => a - b);
    return `${sorted[0].toFixed(0)} ms at best, ${sorted[Math.floor(sorted.length / 2)].toFixed(0)} in the median`;
  };
  const cpu = runs.flatMap((run) => (run.cpu === undefined ? [] : [run.cpu]));
  console.log(`${name}: ${line(runs.map(({ wall }) => wall))}${cpu.length > 0 ? `; CPU ${line(cpu)}` : ''}`);
}

const bare = [];
const ready = [];
// The first start fills the cache of compiled code.
await start([command, '--port', '0']);
for (let index = 0; index < count; index++) {
  bare.push(await start(['--eval', 'console.log(); setTimeout(() => undefined, 1000)']));
  ready.push(await start([command, '--port', '0']));
}
print('node alone', bare);
print('ready', ready);
