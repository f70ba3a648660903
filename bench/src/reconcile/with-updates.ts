// Runs an operator and, as soon as it says `ready`, updates its objects at a steady rate, whether or not it keeps up:
// with-updates.ts <command…> <server.json> <scenario> <objects> <passes>
import { spawn } from 'node:child_process';
import { createHttpClient } from '@kctl/client-http';
import { connectionTo, readServerInfo } from '../servers/server-info.js';
import { lastColour, namespace, Widget, widgetName } from './widget.js';

const rate = 200;
const seconds = 5;
const [program = '', ...args] = process.argv.slice(2);
const [path = '', , objects = '1'] = args.slice(-4);

async function update(): Promise<void> {
  await using client = createHttpClient({ connection: connectionTo(readServerInfo(path)) });
  const send = async (i: number, colour: string): Promise<void> => {
    const sentAt = performance.timeOrigin + performance.now();
    const name = widgetName((i * 37) % Number(objects));
    await client.patch(Widget, { namespace, name }, { type: 'merge', body: { spec: { colour, sentAt } } });
  };
  const start = performance.now();
  const sent: Promise<void>[] = [];
  for (let i = 0; i < rate * seconds; i++) {
    await new Promise((resolve) => setTimeout(resolve, start + (i * 1000) / rate - performance.now()));
    sent.push(send(i, 'blue'));
  }
  await Promise.all(sent);
  await send(rate * seconds, lastColour);
  await exited;
  await send(rate * seconds, 'red'); // for the next one
}

const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
const exited = new Promise<number>((resolve) => child.once('exit', (status) => resolve(status ?? 1)));
let updates: Promise<void> | undefined;
child.stdout.setEncoding('utf8').on('data', (text: string) => {
  process.stdout.write(text);
  if (text.startsWith('ready')) updates = update();
});
process.exitCode = await exited;
await updates;
