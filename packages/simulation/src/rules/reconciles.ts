import type { ReconcileActivity, Scope } from '../scope.js';
import type { ReplicaHost } from '../replica/replica-host.js';
import type { EndedReconcile, Rule, RuleContext } from './rule.js';

/** So many errors without a fault are not the weather's. */
const hotErrors = 3;

interface KeyState {
  readonly controller: string;
  readonly key: string;
  runs: number;
  errors: number;
  lastError: unknown;
  /** Times of runs that ended without an error, since the last one that did not. */
  times: number[];
}

/** One reconcile per key at a time; in quiet times none that fails, and none that runs for nothing. */
export function reconcileRule(context: RuleContext, writesOf: (controller: string, key: string) => number): Rule {
  return new ReconcileRule(context, writesOf);
}

class ReconcileRule implements Rule {
  readonly names = ['one-reconcile-per-key', 'reconcile-fails', 'requeues-for-ever'];
  readonly #context: RuleContext;
  readonly #writesOf: (controller: string, key: string) => number;
  readonly #running = new Map<Scope, Map<string, ReconcileActivity>>();
  /** Runs that began while one of their key was there. Its span may end in the same step, a few promises after its work. */
  #overlaps: { readonly scope: Scope; readonly earlier: ReconcileActivity; readonly step: number }[] = [];
  readonly #keys = new Map<string, KeyState>();

  constructor(context: RuleContext, writesOf: (controller: string, key: string) => number) {
    this.#context = context;
    this.#writesOf = writesOf;
  }

  #judgeOverlaps(): void {
    if (this.#overlaps.length === 0) return;
    const judged = this.#overlaps.filter(({ step }) => step < this.#context.step);
    this.#overlaps = this.#overlaps.filter(({ step }) => step === this.#context.step);
    for (const { scope, earlier } of judged)
      if (!scope.isDead)
        this.#context.violate(
          'one-reconcile-per-key',
          `${scope.name}: controller ${earlier.controller} reconciles ${earlier.key} twice at the same time`,
          earlier.key,
        );
  }

  #stateOf({ controller, key }: ReconcileActivity): KeyState {
    const id = `${controller} ${key}`;
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    const made: KeyState = { controller, key, runs: 0, errors: 0, lastError: undefined, times: [] };
    this.#keys.set(id, made);
    return made;
  }

  sending(): void {
    this.#judgeOverlaps();
  }

  reconcileBegan(scope: Scope, reconcile: ReconcileActivity): void {
    const active = this.#running.get(scope) ?? new Map<string, ReconcileActivity>();
    this.#running.set(scope, active);
    this.#judgeOverlaps();
    const id = `${reconcile.controller} ${reconcile.key}`;
    const earlier = active.get(id);
    if (earlier !== undefined) this.#overlaps.push({ scope, earlier, step: this.#context.step });
    active.set(id, reconcile);
  }

  reconcileEnded({ scope, reconcile, error }: EndedReconcile): void {
    this.#judgeOverlaps();
    this.#overlaps = this.#overlaps.filter(({ earlier }) => earlier !== reconcile);
    const active = this.#running.get(scope);
    const id = `${reconcile.controller} ${reconcile.key}`;
    if (active?.get(id) === reconcile) active.delete(id);
    const state = this.#stateOf(reconcile);
    if (error !== undefined) state.times = [];
    else {
      state.times.push(this.#context.now);
      if (state.times.length > 40) state.times.shift();
    }
    if (this.#context.phase !== 'quiet') return;
    state.runs++;
    if (error === undefined) return;
    state.errors++;
    state.lastError = error;
  }

  replicaChanged(host: ReplicaHost): void {
    if (!host.isAlive && host.scope !== undefined) this.#running.delete(host.scope);
    for (const state of this.#keys.values()) state.times = [];
  }

  quietBegan(): void {
    this.#judgeOverlaps();
    for (const state of this.#keys.values()) {
      state.runs = 0;
      state.errors = 0;
    }
  }

  quietEnded(): void {
    const minutes = this.#context.quietMs / 60_000;
    for (const { controller, key, runs, errors, lastError, times } of this.#keys.values()) {
      const who = `controller ${controller}: the reconcile of ${key}`;
      if (errors >= hotErrors)
        this.#context.violate(
          'reconcile-fails',
          `${who} failed ${errors} times in ${minutes} quiet minutes, without any fault: ${explain(lastError)}`,
          key,
        );
      else if (isBackingOff(times) && this.#writesOf(controller, key) === 0)
        this.#context.violate(
          'requeues-for-ever',
          `${who} runs again and again at growing intervals, though it does not fail and writes nothing: it asks to be retried each time. Return nothing when the work is done; events wake it`,
          key,
        );
      else if (runs > 4 * minutes && this.#writesOf(controller, key) === 0)
        this.#context.violate(
          'requeues-for-ever',
          `${who} ran ${runs} times in ${minutes} quiet minutes and wrote nothing: it asks for a run more often than every 15 s, although no event calls for one. Let events wake it, or poll less often`,
          key,
        );
    }
  }
}

/** Whether the last runs came at doubling intervals, which is how a rate limiter handles a request to retry. */
function isBackingOff(times: readonly number[]): boolean {
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  const ratios = gaps.slice(1).map((gap, index) => gap / Math.max(1, gaps[index] ?? 1));
  return ratios.slice(-4).length === 4 && ratios.slice(-4).every((ratio) => ratio > 1.7 && ratio < 2.4);
}

function explain(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (/read only property|not extensible|read-only property|object is not extensible/i.test(text))
    return `${text}. It changes an object that it read from the cache: take mutableCopy(object), or createOrUpdate, and change that`;
  return text;
}
