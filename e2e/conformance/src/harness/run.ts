/** Runs the cases on one target, several at once, and tells what happened. */
import { createContext, type Run } from './context.js';
import { connect } from './http.js';
import type { KnownDifference } from './known-differences.js';
import type { Case } from './spec.js';
import type { Target } from './target.js';

export interface Result {
  readonly id: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly reason?: string;
  readonly durationMs: number;
}

export interface RunOptions {
  readonly concurrency: number;
  readonly knownDifferences: readonly KnownDifference[];
  readonly onResult: (result: Result) => void;
}

const CASE_TIMEOUT_MS = 60_000;

export async function runCases(target: Target, cases: readonly Case[], options: RunOptions): Promise<Result[]> {
  const run: Run = {
    target,
    connection: connect(target.url, target.caPem, target.credentials),
    id: Math.trunc(Date.now() / 1000)
      .toString(36)
      .slice(-5),
    count: 0,
  };
  const shared = createContext(run);
  run.shared = shared.context;
  const results: Result[] = [];
  const report = (result: Result) => {
    results.push(result);
    options.onResult(result);
  };

  const together = cases
    .filter((one) => one.isExclusive !== true)
    .toSorted((a, b) => Number(b.isSlow ?? false) - Number(a.isSlow ?? false));
  const queue = [...together];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) report(await runCase(run, next, options));
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  for (const one of cases.filter(({ isExclusive }) => isExclusive === true)) report(await runCase(run, one, options));

  await shared.cleanUp();
  await run.connection.close();
  return results;
}

async function runCase(run: Run, one: Case, options: RunOptions): Promise<Result> {
  const started = performance.now();
  const finish = (outcome: Result['outcome'], reason?: string): Result => ({
    id: one.id,
    outcome,
    ...(reason === undefined ? {} : { reason }),
    durationMs: performance.now() - started,
  });
  const lacking = one.needs?.find((capability) => run.target.lacks.has(capability));
  if (lacking !== undefined) return finish('skipped', run.target.lacks.get(lacking));
  const known = options.knownDifferences.find(
    (difference) => difference.case === one.id && difference.target === run.target.name,
  );

  const { context, cleanUp } = createContext(run);
  let timer: NodeJS.Timeout | undefined;
  const timeoutMs = one.timeoutMs ?? CASE_TIMEOUT_MS;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    await Promise.race([one.run(context), deadline]);
    if (known === undefined) return finish('passed');
    return finish('failed', `listed as a known difference (${known.reason}) but passes: take it off the list`);
  } catch (error) {
    if (known !== undefined) return finish('skipped', `known difference: ${known.reason}`);
    return finish('failed', describe(error));
  } finally {
    clearTimeout(timer);
    await cleanUp();
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const place = /src\/cases\/[\w-]+\.ts:\d+/.exec(error.stack ?? '')?.[0];
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}${place === undefined ? '' : `\n  at ${place}`}`;
}
