// Flips key lines of the source, one at a time, in a copy of the package, and checks that a test fails for each.
// Run: `pnpm mutations`, or `pnpm mutations slot-table.ts [test/model.test.ts …]` for one file and some tests only. Exit
// code 1 if a mutant survives. KCTL_PROPERTY_SEED fixes the seed of the property tests.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** `file` of src, the line as it is, the line as it must not be, and what would break. */
const mutations = [
  [
    'fifo-queue.ts',
    'if ((state & (ready | dirty)) !== 0) return;',
    'if ((state & dirty) !== 0) return;',
    'a waiting key that falls due is queued twice',
  ],
  ['fifo-queue.ts', 'flags[slot] = state | dirty;\n      return;', 'return;', 'an add during the work is lost'],
  ['fifo-queue.ts', 'if (state === 0) this.table.release(slot);', '', 'keys are never forgotten: a leak'],
  [
    'queue-base.ts',
    'if (((this.table.flags[slot] ?? 0) & processing) === 0) return;\n    this.metrics',
    'this.metrics',
    'done for what was not handed out',
  ],
  ['queue-base.ts', 'if (this.isDown && this.#processing === 0) this.checkEnd();', '', 'a drain never ends'],
  ['queue-base.ts', 'this.#hadConsumers = true;', '', 'a drain does not wait for a worker that pauses'],
  ['drain.ts', 'if (length === 0) this.end();\n    else if', 'this.end();\n    if', 'a drain ends at the first pause'],
  [
    'drain.ts',
    'else if (!hasConsumers) this.#pause',
    'else if (length < 0) this.#pause',
    'a drain waits for nobody for ever',
  ],
  ['queue-iteration.ts', '      removeWaiter();', '', 'a key goes to an iteration that was left'],
  [
    'queue-iteration.ts',
    'this.#source.giveBack(slot);',
    'this.#source.finish(slot);',
    'a key handed out in the step of leaving is lost',
  ],
  [
    'queue-iteration.ts',
    'for (const call of this.#calls.splice(0)) call.resolve(end());',
    '',
    'a next() that waits hangs after return()',
  ],
  [
    'default-key.ts',
    "if (typeof result === 'string' || (typeof result === 'number' && !Number.isNaN(result))) return result;",
    'return result;',
    'a key function may return garbage',
  ],
  [
    'aged-levels.ts',
    'raise(slot: number, from: number, to: number): void {\n',
    'raise(slot: number, from: number, to: number): void {\n    this.#readyAt[slot] = this.#options.now();\n',
    'a raise makes a key younger',
  ],
  [
    'aged-levels.ts',
    'if (place > 0 && parent !== undefined && this.#isOlder(last, parent)) this.#up(heap, place, last);\n      else this.#down',
    'this.#down',
    'a raise breaks the order of the level that it leaves',
  ],
  ['delaying-queue.ts', 'if (slot >= 0 && this.#isInLine(slot)) {', 'if (slot < -1) {', 'a dropped key comes back'],
  ['failure-counts.ts', 'this.#key ??= key;', '', 'a limiter does not go by the key of its queue'],
  [
    'queue-base.ts',
    'if (slot >= 0 || this.isDown) this.#waiters.serveNext(slot);',
    'if (slot >= 0) this.#waiters.serveNext(slot);',
    'who waits is not released by a shutdown',
  ],
  [
    'delay-line.ts',
    'if (time < this.#heap.timeOf(slot)) this.#heap.move(slot, time);',
    'this.#heap.move(slot, time);',
    'the latest delay wins',
  ],
  [
    'delay-line.ts',
    'this.#timer?.cancel();\n    this.#armedFor = head;',
    'this.#armedFor = head;',
    'old timers stay armed',
  ],
  [
    'delay-heap.ts',
    'if (place > 0 && this.#isBefore(time, order, parent)) this.#up(place, slot, time, order);\n    else this.#down',
    'this.#down',
    'a moved or removed entry breaks the heap',
  ],
  [
    'slot-table.ts',
    'if (this.flags[slot] === 0) this.#drop(slot);',
    'if ((this.flags[slot] ?? 0) < 8) this.#drop(slot);',
    'keys in use are forgotten',
  ],
  [
    'slot-table.ts',
    'return slot >= 0 && this.#remembered(slot) === key ? slot : -1;',
    'return slot;',
    'a new key is taken for another',
  ],
  [
    'slot-table.ts',
    'next < this.#used && this.#remembered(next) === key',
    'next < this.#used',
    'a key is taken for the one after it',
  ],
  [
    'keyed-priority-queue.ts',
    'if (priority > (this.#priorities[slot] ?? 0)) this.#raise(slot, priority);',
    '',
    'a waiting key is not raised',
  ],
  [
    'keyed-priority-queue.ts',
    'this.#levels.push(slot, priority, this.#isParked(slot));',
    'this.#levels.push(slot, priority, false);',
    'a key is handed to two workers, or not at all',
  ],
  [
    'priority-levels.ts',
    'if (level.parked > 0) while (this.#isParked(slot)) slot = this.#next[slot] ?? -1;',
    '',
    'a key is handed to two workers',
  ],
  ['waiter-list.ts', 'this.#waiters.delete(ticket);\n', '', 'an aborted get swallows an item'],
  [
    'waiter-list.ts',
    'this.#waiters.delete(this.#first++);',
    'this.#waiters.delete(this.#first);',
    'one waiter gets all items',
  ],
  [
    'pool.ts',
    'while (this.#active < this.#concurrency && !this.#isStopping)',
    'while (this.#active <= this.#concurrency && !this.#isStopping)',
    'more workers than allowed',
  ],
  [
    'pool.ts',
    'this.#active++;\n    try {',
    'try {\n      queueMicrotask(() => this.#active++);',
    'a pool ends before the first await of its work',
  ],
  ['pool.ts', 'await result;\n', 'await undefined;\n', 'work is not awaited'],
  [
    'pool.ts',
    "&& typeof value !== 'function'",
    "|| typeof value === 'function'",
    'a function that is a thenable is not awaited',
  ],
  [
    'pool.ts',
    'this.#source.giveBack(slot);\n        break;',
    'this.#source.finish(slot);\n        break;',
    'a key that stops the pool is lost',
  ],
  [
    'pool.ts',
    'Math.max(this.#source.countFailure(slot), this.#policy.attempt(item))',
    'this.#policy.attempt(item)',
    'attempts are not counted where the limiter counts none',
  ],
  [
    'pool.ts',
    'if (signal.aborted && (error === signal.reason || isAbortError(error)))',
    'if (signal.aborted && error === undefined)',
    'interrupted work is lost or counts as failed',
  ],
  [
    'bucket-rate-limiter.ts',
    'if (reserved !== undefined && reserved > now) return reserved - now;',
    '',
    'a hot key runs up the delays of all',
  ],
  [
    'item-rate-limiters.ts',
    'Math.min(baseMs * 2 ** Math.min(failures.increment(item), maxExponent), maxMs)',
    'baseMs * 2 ** Math.min(failures.increment(item), maxExponent)',
    'the delay has no ceiling',
  ],
  [
    'item-rate-limiters.ts',
    'Math.min(failures.increment(item), maxExponent)',
    'failures.increment(item)',
    'a base of 0 gives NaN after 1,024 failures',
  ],
  [
    'queue-metrics.ts',
    'this.#queueDuration.observe((now - addedAt) / 1000);',
    'this.#queueDuration.observe(now - addedAt);',
    'durations in ms under a name that says seconds',
  ],
];

const root = join(import.meta.dirname, '..');
// A folder that no other tool looks into.
const copy = join(root, '.turbo', 'mutant');
const [onlyFile, ...onlyTests] = process.argv.slice(2);
const chosen = mutations.filter(([file]) => onlyFile === undefined || file === onlyFile);
let survivors = 0;

for (const [file, line, mutated, meaning] of chosen) {
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  for (const part of ['src', 'test', 'package.json', 'vitest.config.ts'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  const path = join(copy, 'src', file);
  const source = readFileSync(path, 'utf8');
  if (source.split(line).length !== 2) throw new Error(`${file}: expected once: ${line}`);
  writeFileSync(
    path,
    source.replace(line, () => mutated),
  );
  const { status, stdout } = spawnSync(
    'vitest',
    [
      'run',
      ...onlyTests,
      '--bail=1',
      '--testTimeout=30000',
      '--exclude=**/*.leak.test.ts',
      '--reporter=verbose',
      '--no-color',
    ],
    {
      cwd: copy,
      encoding: 'utf8',
      timeout: 180_000,
    },
  );
  const failed =
    /^\s*(?:×|FAIL)\s+(.*)$/m.exec(stdout)?.[1] ??
    (status === null ? 'a test that does not end' : `a run that breaks off (exit code ${status})`);
  if (status === 0) survivors++;
  console.log(
    `${status === 0 ? 'SURVIVED' : 'killed  '}  ${file}: ${meaning}${status === 0 ? '' : `\n          by ${failed}`}`,
  );
}
rmSync(copy, { recursive: true, force: true });
console.log(`${chosen.length - survivors} of ${chosen.length} mutants killed`);
process.exitCode = survivors === 0 ? 0 : 1;
