import { requireList, requireObject } from '@kctl/client';
import { createJsonPatch, type KubeObject } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry';
import type { Converter } from './converter.js';

/**
 * What an object loses on its way to each of the other versions and back, one sentence for each field: empty for a
 * converter that keeps everything, as the API server needs. For property tests of converters:
 *
 * @example
 * ```ts
 * import { roundTripProblems, type Converter } from '@kctl/webhook';
 *
 * async function check(converter: Converter, size: string): Promise<void> {
 *   const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { size } };
 *   const problems = await roundTripProblems(converter, widget, ['example.com/v1', 'example.com/v2']);
 *   if (problems.length > 0) throw new Error(problems.join('\n'));
 * }
 * ```
 */
export async function roundTripProblems(
  converter: Converter,
  object: KubeObject,
  apiVersions: readonly string[],
): Promise<readonly string[]> {
  requireObject('roundTripProblems', 'object', object);
  requireList(
    'roundTripProblems',
    'apiVersions',
    apiVersions,
    'a list of versions with their group, such as example.com/v2',
  );
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
