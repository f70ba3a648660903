import { isObject, type GoType } from '@kctl/crd/internal/engine';

/** The Go kind of a JSON value in an unstructured object. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (isObject(value)) return 'map';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

const integers: ReadonlySet<string> = new Set(['int32', 'int64']);

function base64Problem(value: unknown): string | undefined {
  const text = String(value).replace(/[\r\n]/g, '');
  const bad = /[^A-Za-z0-9+/=]/.exec(text)?.index ?? (text.length % 4 === 0 ? -1 : text.length - (text.length % 4));
  return bad < 0 ? undefined : `error decoding from json: illegal base64 data at input byte ${bad}`;
}

function scalarProblem(value: unknown, type: GoType, scalar: string): string | undefined {
  const kind = kindOf(value);
  const isNumber = kind === 'int64' || kind === 'float64';
  if (scalar === 'string' || scalar === 'bytes') {
    if (kind === 'string') return scalar === 'bytes' ? base64Problem(value) : undefined;
    if (kind === 'int64' && scalar === 'string') return `cannot convert int64 to ${type.goName}`;
    return scalar === 'bytes' ? `cannot restore slice from ${kind}` : `unrecognized type: ${type.goName}`;
  }
  if (scalar === 'bool') return kind === 'bool' ? undefined : `unrecognized type: ${type.goName}`;
  if (integers.has(scalar)) {
    if (kind === 'int64') return undefined;
    return isNumber ? `cannot convert float64 to ${type.goName}` : `unrecognized type: ${type.goName}`;
  }
  return scalar !== 'float64' || isNumber ? undefined : `unrecognized type: ${type.goName}`;
}

/**
 * The reason that a JSON value cannot become a Go value; undefined if it can. The messages are those of upstream's
 * converter of unstructured objects, which differ from those of its JSON decoder. Types that unmarshal themselves are
 * not checked.
 */
export function restoreProblem(value: unknown, type: GoType): string | undefined {
  if (value === null || value === undefined) return undefined;
  const kind = kindOf(value);
  switch (type.form) {
    case 'scalar':
      return scalarProblem(value, type, type.scalar);
    case 'list':
      if (!Array.isArray(value)) return `cannot restore slice from ${kind}`;
      return firstProblem(value.map((item: unknown) => [item, type.of]));
    case 'map':
      if (!isObject(value)) return `cannot restore map from ${kind}`;
      return firstProblem(Object.values(value).map((item) => [item, type.of]));
    case 'struct':
      if (!isObject(value)) return `cannot restore struct from: ${kind}`;
      return firstProblem(
        Object.entries(value).flatMap(([name, item]) => {
          const field = type.struct.fields.get(name);
          return field === undefined ? [] : [[item, field.type] as const];
        }),
      );
    case 'union':
      return undefined;
  }
}

function firstProblem(pairs: readonly (readonly [value: unknown, type: GoType])[]): string | undefined {
  for (const [value, type] of pairs) {
    const problem = restoreProblem(value, type);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
