// Runs one client program on a prepared server: on-server.ts <url> <encoding> <command…> <scenario> <objects> <events>.
import { spawn } from 'node:child_process';

const [url = '', encoding = 'pods', ...args] = process.argv.slice(2);
const [scenario = '', objects = '0', events = '0'] = args.slice(-3);
const [program = '', ...fixed] = args.slice(0, -3);
const answer = await fetch(`${url}/events/${scenario.startsWith('watch') ? events : '0'}`);
if (!answer.ok) throw new Error(`the server has no ${events} events: it answered ${answer.status}`);
const client = spawn(program, [...fixed, scenario, objects, events, url, encoding], {
  stdio: ['ignore', 'inherit', 'inherit'],
});
process.exitCode = await new Promise        ((resolve) => client.once('exit', (status) => resolve(status ?? 1)));
