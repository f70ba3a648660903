#!/usr/bin/env node
import { compareVersions, minimumNode } from './node-version.js';

if (compareVersions(process.versions.node, minimumNode) < 0) {
  process.stderr.write(`kctl: Node ${process.versions.node} is too old: install ${minimumNode} or newer\n`);
  process.exitCode = 1;
} else {
  // Imported only now, since a syntax error of an old Node would hide the message.
  const [{ runKctl }, { keysOf }] = await Promise.all([import('./program.js'), import('./terminal-keys.js')]);
  const stop = new AbortController();
  // The first signal ends the command in order, the second one at once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => (stop.signal.aborted ? process.exit(130) : stop.abort()));
  process.exitCode = await runKctl(
    {
      cwd: process.cwd(),
      environment: process.env,
      out: (text) => void process.stdout.write(text),
      colour: process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb',
      err: (text) => void process.stderr.write(text),
      onKey: keysOf(process.stdin, () => process.kill(process.pid, 'SIGINT')),
      signal: stop.signal,
    },
    process.argv.slice(2),
  );
}
