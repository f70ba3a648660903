#!/usr/bin/env node
import { unsupportedNode } from './supported-node.js';

const problem = unsupportedNode(process.versions);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
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
