import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  opaqueType,
  optionalType,
  paramType,
  stringType,
  structType,
  timestampType,
  typeType,
  uintType,
  type CelType,
} from './type.js';

const named: ReadonlyMap<string, CelType> = new Map([
  ...[dynType, nullType, boolType, intType, uintType, doubleType, stringType, bytesType].map(
    (type) => [type.name, type] as const,
  ),
  ['timestamp', timestampType],
  ['duration', durationType],
  ['type', typeType()],
]);
const opaque = new Set(['net.IP', 'net.CIDR']);

/** Splits at the commas that stand outside of parentheses. */
function split(source: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < source.length; index++) {
    const char = source[index];
    if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === ',' && depth === 0) {
      parts.push(source.slice(start, index));
      start = index + 1;
    }
  }
  const last = source.slice(start).trim();
  if (last !== '' || parts.length > 0) parts.push(last);
  return parts.map((part) => part.trim());
}

/** Reads a type as messages print it: `map(string, list(T))`. A single capital letter is a type parameter. */
export function parseType(source: string): CelType {
  const known = named.get(source);
  if (known !== undefined) return known;
  const open = source.indexOf('(');
  if (open > 0 && source.endsWith(')')) {
    const name = source.slice(0, open);
    const [first = dynType, second = dynType] = split(source.slice(open + 1, -1)).map(parseType);
    if (name === 'list') return listType(first);
    if (name === 'map') return mapType(first, second);
    if (name === 'optional_type' || name === 'optional') return optionalType(first);
    if (name === 'type') return typeType(first);
    throw new TypeError(`type ${JSON.stringify(source)}: ${name} takes no parameters`);
  }
  if (/^[A-Z]$/.test(source)) return paramType(source);
  if (!/^[A-Za-z_][\w.]*$/.test(source)) throw new TypeError(`type ${JSON.stringify(source)} is not a CEL type`);
  return opaque.has(source) ? opaqueType(source) : structType(source);
}

/** A function's shape: `string.(int, int): string` is a member, `(string): int` is global. */
export interface Signature {
  readonly isMember: boolean;
  /** The receiver first, for a member. */
  readonly params: readonly CelType[];
  readonly result: CelType;
}

export function parseSignature(source: string): Signature {
  const colon = source.lastIndexOf('): ');
  const result = parseType(source.slice(colon + 3));
  const head = source.slice(0, colon + 1);
  const dot = head.indexOf('.(');
  const isMember = dot > 0;
  const open = isMember ? dot + 1 : 0;
  const args = split(head.slice(open + 1, -1)).map(parseType);
  return { isMember, params: isMember ? [parseType(head.slice(0, dot)), ...args] : args, result };
}
