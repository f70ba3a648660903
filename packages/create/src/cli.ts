#!/usr/bin/env node
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`Node ${process.versions.node} is too old: install 22.19.0 or newer\n`);
  process.exitCode = 1;
} else {
  // Imported only now, since a syntax error of an old Node would hide the message.
  const { runCreate, runNpm } = await import('./run.js');
  const io = {
    cwd: process.cwd(),
    isInteractive: process.stdin.isTTY && process.stdout.isTTY,
    out: (text: string) => void process.stdout.write(text),
    err: (text: string) => void process.stderr.write(text),
    npm: runNpm,
  };
  process.exitCode = await runCreate(io, process.argv.slice(2));
}
