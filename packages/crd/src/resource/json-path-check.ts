import { isObject, stringOf, type JsonObject } from '../engine/values/json.js';

/** Result of resolving a JSON path in a schema. */
export type PathTarget =
  | { readonly schema: JsonObject }
  /** The path leads through data that the schema does not name. */
  | { readonly isOpen: true }
  | { readonly missing: string };

const metadata: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

function steps(path: string): string[] | undefined {
  const found: string[] = [];
  let rest = path;
  while (rest !== '') {
    const match =
      /^\.((?:[^.[\]\\]|\\.)+)/.exec(rest) ??
      /^\[['"]((?:[^'"\\]|\\.)*)['"]\]/.exec(rest) ??
      /^(\[[^\]]*\])/.exec(rest);
    if (match === null) return undefined;
    found.push((match[1] ?? '').replaceAll(/\\(.)/g, '$1'));
    rest = rest.slice(match[0].length);
  }
  return found;
}

function below(schema: JsonObject, step: string): JsonObject | undefined {
  if (step.startsWith('[')) return isObject(schema['items']) ? schema['items'] : undefined;
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const named = Object.hasOwn(properties, step) ? properties[step] : schema['additionalProperties'];
  return isObject(named) ? named : undefined;
}

/** Follows a JSON path through a schema: `.spec.parts[0].name`, `.metadata.labels['a.b']`. */
export function schemaAtPath(root: JsonObject, path: string): PathTarget {
  const all = steps(path);
  if (all === undefined) return { missing: path };
  let schema = root;
  for (const [index, step] of all.entries()) {
    if (index === 0 && step === 'metadata') {
      if (all[1] === 'creationTimestamp') return { schema: { type: 'string', format: 'date-time' } };
      return all.length === 1 ? { schema: metadata } : { isOpen: true };
    }
    const next = below(schema, step);
    if (next === undefined) {
      if (schema['x-kubernetes-preserve-unknown-fields'] === true) return { isOpen: true };
      return { missing: step };
    }
    schema = next;
  }
  return { schema };
}

/** The type of a column by the schema of its path. */
export function columnType(target: PathTarget): string {
  if (!('schema' in target)) return 'string';
  const type = stringOf(target.schema['type']);
  if (type === 'string' && ['date', 'date-time'].includes(stringOf(target.schema['format']))) return 'date';
  return ['boolean', 'integer', 'number'].includes(type) ? type : 'string';
}
