#!/usr/bin/env node
const refusal = await refusalOfNode();
if (refusal !== undefined) {
  process.stderr.write(`kctl: ${refusal}\n`);
  process.exitCode = 1;
} else {
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

/** The sentence that refuses an old Node, before a syntax error of the other modules would hide it. */
async function refusalOfNode(): Promise<string | undefined> {
  try {
    await import('@kctl/options');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
