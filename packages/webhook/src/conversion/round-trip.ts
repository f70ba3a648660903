import { requireList, requireObject } from '@kctl/client/internal';
import { createJsonPatch, type KubeObject, parseJson, stringifyJson } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import { messageOf } from '@kctl/telemetry/internal';
import { shownType } from '@kctl/options';
import type { Converter } from '../handler/converter.js';
import { jsonProblem } from '../handler/read-json.js';

/**
 * Returns the losses of an object on its way to each of the other versions and back, one sentence for each field, and
 * an empty list for a converter that keeps everything, as the API server needs. For property tests of converters. API
 * servers convert parts of objects, too, so test with objects without metadata, without `spec`, and without fields that
 * the schema requires.
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
  object: Omit<KubeObject, 'metadata'> & Partial<Pick<KubeObject, 'metadata'>>,
  apiVersions: readonly string[],
): Promise<readonly string[]> {
  // As in a webhook, an object without metadata is converted with an empty one.
  const whole: unknown = isJsonObject(object) ? Object.assign({ metadata: {} }, object) : object;
  requireObject('roundTripProblems', 'object', whole);
  requireList(
    'roundTripProblems',
    'apiVersions',
    apiVersions,
    'a list of versions with their group, such as example.com/v2',
  );
  const problems: string[] = [];
  const { apiVersion = '' } = whole;
  for (const other of apiVersions) {
    if (other === apiVersion) continue;
    const way = `${apiVersion} → ${other} → ${apiVersion}`;
    try {
      const there = asSent(await converter(structuredClone(whole) as KubeObject, other));
      if (there.apiVersion !== other)
        problems.push(`${way}: the converter returned ${there.apiVersion ?? 'no apiVersion'}`);
      const back = asSent(await converter(there, apiVersion));
      for (const { op, path } of createJsonPatch(whole, back)) problems.push(`${way}: ${changes[op] ?? op} ${path}`);
    } catch (error) {
      problems.push(`${way}: ${messageOf(error)}`);
    }
  }
  return problems;
}

/** An object as an API server reads it, without the members that JSON omits. */
function asSent(object: unknown): KubeObject {
  if (!isJsonObject(object)) throw new TypeError(`the converter returned ${shownType(object)}: expected an object`);
  const problem = jsonProblem(object);
  if (problem !== undefined) throw new TypeError(`the converter returned what cannot be written as JSON: ${problem}`);
  return parseJson(stringifyJson(object)) as KubeObject;
}

const changes: Readonly<Record<string, string>> = { remove: 'loses', replace: 'changes', add: 'adds' };
