/**
 * Functions that run right before an export. prom-client has collect functions of single metrics only, and calls
 * those of one export in one synchronous pass: the first of our metrics in a pass runs all hooks.
 */
export class CollectHooks {
  readonly #hooks = new Set<() => void>();
  readonly #report: (error: unknown) => void;
  #isInPass = false;

  /** `report` receives what a hook throws or rejects with: it costs the values of that hook, not the export. */
  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  /** Returns a function that removes the hook. */
  add(hook: () => unknown): () => void {
    // A wrapper, so that the same function can be added twice and each be removed on its own.
    const entry = (): void => {
      try {
        const result = hook();
        if (result instanceof Promise) result.catch(this.#report);
      } catch (error) {
        this.#report(error);
      }
    };
    this.#hooks.add(entry);
    return () => void this.#hooks.delete(entry);
  }

  clear(): void {
    this.#hooks.clear();
  }

  /** Makes a metric run the hooks when it is collected, besides what it does already. */
  attach<M extends object>(metric: M): M {
    const former: unknown = Reflect.get(metric, 'collect');
    const collect = (): unknown => {
      this.#run();
      return typeof former === 'function' ? Reflect.apply(former, metric, []) : undefined;
    };
    Object.assign(metric, { collect });
    return metric;
  }

  #run(): void {
    if (this.#isInPass) return;
    this.#isInPass = true;
    queueMicrotask(() => {
      this.#isInPass = false;
    });
    for (const hook of this.#hooks) hook();
  }
}
