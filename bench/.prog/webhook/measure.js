// Starts a webhook server as a process of its own, sends it reviews and prints one Sample: CPU time and memory are the
// server's, pauseMs is the 99th percentile of a request. Usage: measure.ts <command of the server as JSON> <path> <reviews>
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer,                  } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificateAuthority } from '@kctl/testing';
import { openLoad,           } from './review-client.js';

/** As a busy API server: more at a time only wait in line. */
const concurrency = 16;
const warmUps = 3;
const ticksPerSecond = 100;

const [commandText = '[]', path = '/default', countText = '20000'] = process.argv.slice(2);
const [program = '', ...args] = JSON.parse(commandText)                     ;
const count = Number(countText);

/** CPU time and largest resident set of a process, as Linux tells it. */
function usageOf(pid        )                                       {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpuMs: (ticks / ticksPerSecond) * 1000, peakRssMb: Number(peak) / 1024 };
}

async function freePort()                  {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address()               ;
  server.close();
  return port;
}

async function connected(open                     )                {
  for (let left = 200; ; left--) {
    try {
      return await open();
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

const directory = mkdtempSync(join(tmpdir(), 'kctl-bench-webhook-'));
try {
  const authority = await createCertificateAuthority('bench', Date.now());
  const { certPem, keyPem } = await authority.issueServing({
    commonName: 'localhost',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
  });
  writeFileSync(join(directory, 'tls.crt'), certPem);
  writeFileSync(join(directory, 'tls.key'), keyPem, { mode: 0o600 });
  const port = await freePort();
  const server = spawn(program, [...args, String(port), directory], { stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = once(server, 'exit');
  try {
    const load = await connected(() => openLoad({ port, path, ca: authority.ca.certPem }, concurrency));
    for (let pass = 0; pass < warmUps; pass++) await load.run(count);
    const pid = server.pid ?? 0;
    const before = usageOf(pid);
    const { wallMs, times } = await load.run(count);
    const { cpuMs, peakRssMb } = usageOf(pid);
    load.close();
    const pauseMs = times.toSorted()[Math.ceil(count * 0.99) - 1];
    console.log(JSON.stringify({ ops: count, wallMs, cpuMs: cpuMs - before.cpuMs, peakRssMb, pauseMs }));
  } finally {
    server.stdin.end();
    await ended;
  }
} finally {
  rmSync(directory, { recursive: true });
}
