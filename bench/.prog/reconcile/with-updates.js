// Runs an operator and, as soon as it says `ready`, updates its objects at a steady rate, whether or not it keeps up:
// with-updates.ts <command…> <server.json> <scenario> <objects> <passes>
import { spawn } from 'node:child_process';
import { createHttpClient } from '@kctl/client-http';
import { connectionTo, readServerInfo } from '../servers/server-info.js';
import { marks, namespace, Widget, widgetName } from './widget.js';

const rate = 200;
const warmUps = 600;
/** The first seconds of the operator's process; then those in which it gets warm; then those in which it is. */
const parts = [
  { seconds: 5, mark: marks.coldEnd },
  { seconds: 15, mark: marks.warmStart },
  { seconds: 5, mark: marks.end },
];
const [program = '', ...args] = process.argv.slice(2);
const [path = '', scenario = '', objects = '1'] = args.slice(-4);
const client = createHttpClient({ connection: connectionTo(readServerInfo(path)) });

async function send(i        , colour        )                {
  const sentAt = performance.timeOrigin + performance.now();
  const name = widgetName((i * 37) % Number(objects));
  await client.patch(Widget, { namespace, name }, { type: 'merge', body: { spec: { colour, sentAt } } });
}

/** Before the operator starts: what is compiled here is not to be seen in its latency. */
async function warmUp()                {
  for (let i = 0; i < warmUps; i += 4) await Promise.all([0, 1, 2, 3].map((lane) => send(i + lane, 'red')));
}

async function update()                {
  let i = 0;
  for (const { seconds, mark } of parts) {
    const start = performance.now() - (i * 1000) / rate;
    const sent                  = [];
    for (const end = i + rate * seconds; i < end; i++) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, start + (i * 1000) / rate - performance.now())));
      sent.push(send(i, 'blue'));
    }
    await Promise.all(sent);
    await send(0, mark);
  }
  await exited.promise;
  await send(0, 'red'); // for the next one
}

const exited = Promise.withResolvers        ();
if (scenario === 'updates') await warmUp();
const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
child.once('exit', (status) => exited.resolve(status ?? 1));
let updates                           ;
child.stdout.setEncoding('utf8').on('data', (text        ) => {
  process.stdout.write(text);
  if (text.startsWith('ready')) updates = update();
});
process.exitCode = await exited.promise;
await updates;
await client[Symbol.asyncDispose]();
