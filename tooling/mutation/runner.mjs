/**
 * The runner of the tests, in their process: runs each test as it is, then again with each mutant that it reached and that
 * is still alive. Modules are loaded once, so a mutant costs no more than the tests that reach it.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestRunner } from 'vitest';

/** Taken before a test can replace them. */
const { setTimeout, clearTimeout } = globalThis;
const now = performance.now.bind(performance);

/**
 * @typedef {import('./pass.mjs').Pass} Pass
 * @typedef {{ activeMutant?: string, currentTestId?: string, hitCount?: number, hitLimit?: number,
 *   mutantCoverage?: { static: Record<string, number>, perTest: Record<string, Record<string, number>> } }} Switches
 */
const folder = process.env.KCTL_MUTATION ?? '';
/** @type {Pass} */
const pass = JSON.parse(readFileSync(join(folder, 'pass.json'), 'utf8'));
const alive = new Set(pass.alive);
const done = new Set(pass.done);
/** What the code behind Stryker's switches reads and counts. @type {Switches} */
const switches = (globalThis.__stryker__ ??= {});
/** Each line is written before the next step, so that the parent knows where a process was that it had to end. */
const report = (/** @type {object} */ line) =>
  appendFileSync(join(folder, 'progress.jsonl'), `${JSON.stringify(line)}\n`);

/** What each mutant has had of tests in this pass, in ms: one that no test notices would otherwise have hundreds of them. */
const spent = new Map();
const budgetMs = 15_000;

/** A mutant breaks work that its test has left behind, too: that is not a failure of the test that runs now. */
for (const event of /** @type {const} */ (['unhandledRejection', 'uncaughtException'])) {
  process.removeAllListeners(event);
  process.on(event, () => {});
}

export default class MutationRunner extends TestRunner {
  async onBeforeRunTask(test) {
    if (done.has(idOf(test))) test.mode = 'skip';
    await super.onBeforeRunTask(test);
    if (test.mode === 'skip') return;
    report({ test: idOf(test) });
    switches.currentTestId = idOf(test);
  }

  async onAfterRunTask(test) {
    await super.onAfterRunTask(test);
    const id = idOf(test);
    switches.currentTestId = undefined;
    const reached = switches.mutantCoverage?.perTest[id] ?? {};
    const ms = test.result?.duration ?? 0;
    const isPassed = test.result?.state === 'pass';
    if (isPassed && ms < pass.atMostMs) await this.#mutate(test, reached, ms);
    report({ test: id, ms: Math.round(ms), state: test.result?.state, reached: Object.keys(reached) });
  }

  onAfterRunFiles(files) {
    super.onAfterRunFiles(files);
    for (const { name, result } of files)
      if (result?.errors !== undefined) report({ failing: name, why: result.errors.map(({ message }) => message) });
    report({ static: Object.keys(switches.mutantCoverage?.static ?? {}) });
  }

  /** @param {Record<string, number>} reached by the test, with how often */
  async #mutate(test, reached, ms) {
    const mutants = Object.keys(reached).filter((mutant) => alive.has(mutant) && (spent.get(mutant) ?? 0) < budgetMs);
    if (mutants.length === 0) return;
    const result = test.result;
    const limitMs = 1_000 + 8 * ms;
    if (await this.#fails(test, limitMs)) return report({ unrepeatable: idOf(test) });
    for (const mutant of mutants) {
      report({ test: idOf(test), mutant });
      Object.assign(switches, { activeMutant: mutant, hitCount: 0, hitLimit: 1_000 + 100 * (reached[mutant] ?? 0) });
      const started = now();
      const failure = await this.#fails(test, limitMs);
      spent.set(mutant, (spent.get(mutant) ?? 0) + now() - started);
      Object.assign(switches, { activeMutant: undefined, hitCount: undefined });
      if (failure === undefined) continue;
      // What the mutant left behind may have broken the test itself, which must not count against the next mutant.
      const isBroken = (await this.#fails(test, limitMs)) && (await this.#fails(test, limitMs));
      report({ test: idOf(test), mutant, failure });
      alive.delete(mutant);
      if (isBroken) return report({ broken: idOf(test), by: mutant });
    }
    test.result = result;
  }

  /** Runs a test once more, with its hooks. @returns the failure, cut short */
  async #fails(test, limitMs) {
    /** @type {import('vitest').RunnerTestSuite[]} */
    const suites = [];
    for (let suite = test.suite ?? test.file; suite !== undefined; suite = suite.suite) suites.unshift(suite);
    if (suites[0] !== test.file) suites.unshift(test.file);
    const hooks = suites.map((suite) => ({ suite, ...TestRunner.getSuiteHooks(suite) }));
    /** @type {(() => unknown)[]} */
    const cleanups = [];
    /** @type {unknown} */
    let failure;
    const attempt = async (/** @type {() => unknown} */ step) => {
      try {
        await step();
      } catch (error) {
        failure ??= error ?? 'failed';
      }
    };
    test.result = { state: 'run', startTime: 0, retryCount: 0, attempts: [], repeatCount: 0 };
    test.onFinished = test.onFailed = undefined;
    const run = async () => {
      this.onBeforeTryTask(test, { retry: 0, repeats: 0 });
      await attempt(async () => {
        for (const { suite, beforeEach = [] } of hooks)
          for (const hook of beforeEach) {
            const cleanup = await hook(test.context, suite);
            if (typeof cleanup === 'function') cleanups.push(cleanup);
          }
        await TestRunner.getTestFn(test)();
        await this.onAfterTryTask(test, { retry: 0, repeats: 0 });
        if (test.result.state === 'fail') throw test.result.errors?.[0];
      });
      for (const { suite, afterEach = [] } of [...hooks].reverse())
        for (const hook of afterEach) await attempt(() => hook(test.context, suite));
      for (const cleanup of [...cleanups, ...(test.onFinished ?? [])].reverse())
        await attempt(() => cleanup(test.context));
    };
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(() => resolve((failure ??= 'late')), limitMs);
    });
    await Promise.race([run(), late]);
    clearTimeout(timer);
    return failure === undefined
      ? undefined
      : String(failure instanceof Error ? failure.message : failure).slice(0, 200);
  }
}

function idOf(test) {
  const names = [test.name];
  for (let suite = test.suite; suite !== undefined; suite = suite.suite) names.unshift(suite.name);
  return `${test.file.name}: ${names.join(' > ')}`;
}
