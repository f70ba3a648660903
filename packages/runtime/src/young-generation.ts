/**
 * Keeps V8's young generation at its current size, which is 2 MB at the start of a bundled program, and 8 MB if its
 * modules were loaded one by one. By default it doubles, up to 16 MB and three times that in memory, when as much
 * survives as in the first list of a cache, and does not shrink while a program is busy. A reconcile allocates little
 * and drops it soon, so a small young generation is collected more often and costs no more.
 *
 * Call it first in the program. It holds for the whole process, so it is for programs, not for libraries; `main` of
 * @kctl/operator calls it. The same as `--semi-space-growth-factor=1`, which NODE_OPTIONS refuses. Nothing happens if
 * Node was started with a size (`--max-semi-space-size`, `--min-semi-space-size`), or if the runtime is not Node.
 *
 * @example
 * ```ts
 * import { createManager, keepYoungGenerationSmall, setupSignalHandler } from '@kctl/runtime';
 *
 * keepYoungGenerationSmall();
 * const manager = await createManager();
 * await manager.run(setupSignalHandler());
 * ```
 */
export function keepYoungGenerationSmall(): void {
  if ('bun' in process.versions || 'deno' in process.versions) return;
  const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ');
  if (/--(?:max|min)[-_]semi[-_]space[-_]size/.test(given)) return;
  process.getBuiltinModule('node:v8').setFlagsFromString('--semi-space-growth-factor=1');
}
