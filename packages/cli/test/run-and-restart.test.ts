import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CliIo } from '../src/index.js';
import { runAndRestart } from '../src/run-and-restart.js';

/** A program that says when it starts and ends; `after` is code of its own. */
const program = (name: string, after = ''): string => `
import { appendFileSync } from 'node:fs';
const note = (text) => appendFileSync('log', text + '\\n');
process.on('SIGTERM', () => { note('stop ${name}'); process.exit(0); });
note('start ${name}');
setInterval(() => undefined, 1000);
${after}`;

interface Running {
  readonly folder: string;
  readonly source: string;
  readonly err: () => string;
  readonly log: () => string[];
  stop(): Promise<void>;
}

const started: Running[] = [];
afterEach(async () => {
  for (const { folder, stop } of started.splice(0)) {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

function run(text: string, stopMs?: number): Running {
  const folder = mkdtempSync(join(tmpdir(), 'kctl-restart-'));
  const main = join(folder, 'src', 'main.mjs');
  mkdirSync(join(folder, 'src'));
  writeFileSync(main, text);
  const abort = new AbortController();
  let output = '';
  const write = (part: string): void => void (output += part);
  const io: CliIo = { cwd: folder, environment: process.env, out: write, err: write, signal: abort.signal };
  const project = { folder, main, output: folder, image: 'x', version: '0.1.0' };
  const ended = runAndRestart(io, project, {
    arguments: () => [],
    environment: {},
    ...(stopMs === undefined ? {} : { stopMs }),
  });
  const file = join(folder, 'log');
  const running: Running = {
    folder,
    source: main,
    err: () => output,
    log: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []),
    stop: () => {
      abort.abort();
      return ended;
    },
  };
  started.push(running);
  return running;
}

/** Waits with a limit for a loaded machine. */
const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 300_000, interval: 20 });
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('the program of kctl dev', () => {
  it('ends before the next one starts, and names the file that changed', async () => {
    const running = run(program('first'));
    await until(() => expect(running.log()).toEqual(['start first']));
    writeFileSync(running.source, program('second'));
    await until(() => expect(running.log()).toEqual(['start first', 'stop first', 'start second']));
    expect(running.err()).toMatch(/^restarted: main\.mjs changed \(\d+\.\d s after the save.*\)$/m);
    await running.stop();
    expect(running.log().at(-1)).toBe('stop second');
  });

  it('is shown as it prints: no character is cut where a piece of its output ends', async () => {
    const length = 200_000;
    const running = run(program('loud', `process.stdout.write('x' + 'ä'.repeat(${length}) + 'end\\n');`));
    await until(() => expect(running.err()).toContain('end\n'));
    expect(running.err()).toBe(`x${'ä'.repeat(length)}end\n`);
  });

  it('is killed with what it started where it ignores SIGTERM', async () => {
    const stubborn = program(
      'stubborn',
      `process.removeAllListeners('SIGTERM');
       process.on('SIGTERM', () => note('ignored'));
       const { spawn } = await import('node:child_process');
       note('child ' + spawn('sleep', ['600'], { stdio: 'inherit' }).pid);
       note('own ' + process.pid);`,
    );
    const running = run(stubborn, 300);
    await until(() => expect(running.log()).toHaveLength(3));
    const pids = running.log().flatMap((line) => /^(?:child|own) (\d+)$/.exec(line)?.[1] ?? []);
    await running.stop();
    expect(running.err()).toContain('the operator does not end within 0.3 s of SIGTERM: killed\n');
    // A process that has been killed is there until its parent, or init, has seen to it.
    await until(() => expect(pids.map((pid) => isAlive(Number(pid)))).toEqual([false, false]));
  });

  it('starts again after a failure when a file changes, also one in a folder made anew', async () => {
    const running = run('process.exit(3);');
    await until(() =>
      expect(running.err()).toBe('the operator ended with code 3: it starts again when a file changes\n'),
    );
    rmSync(join(running.folder, 'src'), { recursive: true });
    mkdirSync(join(running.folder, 'src'));
    writeFileSync(running.source, program('mended'));
    await until(() => expect(running.log()).toContain('start mended'));
  });
});
