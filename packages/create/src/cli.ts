#!/usr/bin/env node
try {
  // First, since it refuses an old Node in a sentence: a syntax error of the other modules would hide that.
  await import('@kctl/options');
  const { runCreate, runNpm } = await import('./run.js');
  const io = {
    cwd: process.cwd(),
    isInteractive: process.stdin.isTTY && process.stdout.isTTY,
    out: (text: string) => void process.stdout.write(text),
    err: (text: string) => void process.stderr.write(text),
    npm: runNpm,
  };
  process.exitCode = await runCreate(io, process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
