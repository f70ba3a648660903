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
function split(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === ',' && depth === 0) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  const last = text.slice(start).trim();
  if (last !== '' || parts.length > 0) parts.push(last);
  return parts.map((part) => part.trim());
}

/** Reads a type as messages print it: `map(string, list(T))`. A single capital letter is a type parameter. */
export function parseType(text: string): CelType {
  const known = named.get(text);
  if (known !== undefined) return known;
  const open = text.indexOf('(');
  if (open > 0 && text.endsWith(')')) {
    const name = text.slice(0, open);
    const [first = dynType, second = dynType] = split(text.slice(open + 1, -1)).map(parseType);
    if (name === 'list') return listType(first);
    if (name === 'map') return mapType(first, second);
    if (name === 'optional_type' || name === 'optional') return optionalType(first);
    if (name === 'type') return typeType(first);
    throw new TypeError(`type ${JSON.stringify(text)}: ${name} takes no parameters`);
  }
  if (/^[A-Z]$/.test(text)) return paramType(text);
  if (!/^[A-Za-z_][\w.]*$/.test(text)) throw new TypeError(`type ${JSON.stringify(text)} is not a CEL type`);
  return opaque.has(text) ? opaqueType(text) : structType(text);
}

/** A function's shape: `string.(int, int): string` is a member, `(string): int` is global. */
export interface Signature {
  readonly isMember: boolean;
  /** The receiver first, for a member. */
  readonly params: readonly CelType[];
  readonly result: CelType;
}

export function parseSignature(text: string): Signature {
  const colon = text.lastIndexOf('): ');
  const result = parseType(text.slice(colon + 3));
  const head = text.slice(0, colon + 1);
  const dot = head.indexOf('.(');
  const isMember = dot > 0;
  const open = isMember ? dot + 1 : 0;
  const args = split(head.slice(open + 1, -1)).map(parseType);
  return { isMember, params: isMember ? [parseType(head.slice(0, dot)), ...args] : args, result };
}
