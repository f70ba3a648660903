// Runs one client program beside a server of its own: with-server.ts <encoding> <command…> <scenario> <objects> <events>.
import { fork, spawn } from 'node:child_process';
import { join } from 'node:path';

const [encoding = 'pods', ...args] = process.argv.slice(2);
const [scenario = '', objects = '0', events = '0'] = args.slice(-3);
const [program = '', ...fixed] = args.slice(0, -3);
// Protobuf is written by the program that reads it, with the library that servers write it with.
const encoder = encoding === 'protobuf' ? [program, ...fixed, 'encode'] : [];
const sent = scenario === 'watch' ? events : '0';
const server = fork(join(import.meta.dirname, 'server.ts'), [encoding, objects, sent, ...encoder], {
  stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  execArgv: process.execArgv.filter((flag) => flag !== '--expose-gc'),
});
const url = await new Promise<string>((resolve, reject) => {
  server.stdout?.once('data', (line: Buffer) => resolve(line.toString().trim()));
  server.once('exit', (code) => reject(new Error(`the server ended with ${String(code)} before it listened`)));
});
const client = spawn(program, [...fixed, scenario, objects, events, url, encoding], {
  stdio: ['ignore', 'inherit', 'inherit'],
});
const code = await new Promise<number>((resolve) => client.once('exit', (status) => resolve(status ?? 1)));
server.disconnect();
process.exitCode = code;
