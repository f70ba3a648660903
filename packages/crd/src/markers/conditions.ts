import type { Condition } from '@kctl/apimachinery';
import { Condition as ConditionSchema } from '@kctl/apimachinery/schemas/meta/v1';
import type { SchemaValue } from '../source/schema-value.js';
import { listMap, type Marker } from './markers.js';

/** The JSON Schema of a list of conditions, one of each type, merged by server-side apply. */
export function conditionsSchema(): Marker {
  return { type: 'array', items: ConditionSchema['~standard'].jsonSchema.input(), ...listMap('type') };
}

/**
 * `status.conditions` as `metav1.Condition` defines it, a list of type map by `type`. A schema value for `fields` of a
 * version, if the library's schema cannot express it; for zod, `conditions()` of `@kctl/crd/zod` is a field of an
 * object.
 *
 * @example
 * ```ts
 * import { conditions, defineResource, fromJsonSchema } from '@kctl/crd';
 * import type { Condition } from '@kctl/apimachinery';
 *
 * const status = fromJsonSchema<{ conditions?: Condition[] }>({ type: 'object', properties: { conditions: {} } });
 * const spec = fromJsonSchema<{ size: number }>({ type: 'object', properties: { size: { type: 'integer' } } });
 * const Disk = defineResource({
 *   group: 'shop.example.com',
 *   kind: 'Disk',
 *   versions: { v1: { spec, status, fields: { 'status.conditions': conditions() } } },
 * });
 * console.log(Disk.plural);
 * ```
 */
export function conditions(): SchemaValue<Condition[]> {
  const write = (): Record<string, unknown> => ({ ...conditionsSchema() });
  return { '~standard': { version: 1, vendor: 'kctl', jsonSchema: { input: write, output: write } } };
}
