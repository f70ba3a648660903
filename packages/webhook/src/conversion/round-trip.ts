import { createJsonPatch, type KubeObject } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry';
import type { Converter } from './converter.js';

/**
 * What an object loses on its way to each of the other versions and back, one sentence for each field: empty for a
 * converter that keeps everything, as the API server needs. For property tests of converters:
 *
 * @example
 * ```ts
 * await fc.assert(fc.asyncProperty(widgets, async (widget) => {
 *   expect(await roundTripProblems(converter, widget, ['ex.io/v1', 'ex.io/v2'])).toEqual([]);
 * }));
 * ```
 */
export async function roundTripProblems(
  converter: Converter,
  object: KubeObject,
  apiVersions: readonly string[],
): Promise<readonly string[]> {
  const problems: string[] = [];
  const { apiVersion = '' } = object;
  for (const other of apiVersions) {
    if (other === apiVersion) continue;
    const way = `${apiVersion} → ${other} → ${apiVersion}`;
    try {
      const there = await converter(structuredClone(object), other);
      if (there.apiVersion !== other)
        problems.push(`${way}: the converter returned ${there.apiVersion ?? 'no apiVersion'}`);
      const back = await converter(structuredClone(there), apiVersion);
      for (const { op, path } of createJsonPatch(object, back)) problems.push(`${way}: ${changes[op] ?? op} ${path}`);
    } catch (error) {
      problems.push(`${way}: ${messageOf(error)}`);
    }
  }
  return problems;
}

const changes: Readonly<Record<string, string>> = { remove: 'loses', replace: 'changes', add: 'adds' };
