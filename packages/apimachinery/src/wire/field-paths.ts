/** One node of the tree that several paths share. */
export interface PathNode {
  readonly key: readonly number[];
  readonly children: readonly PathNode[];
  /** Which path ends here; −1 for none. */
  readonly index: number;
}

/** A key as bytes, in its quotes. */
export interface KeyMark {
  readonly key: readonly number[];
  /** Its end, from a letter on that is rare, so that a search is fast. */
  readonly end: Uint8Array;
  /** Its offset in the key. */
  readonly endAt: number;
}

/** Paths to scalar fields, compiled for the scanner and for parsed objects. */
export interface FieldPaths {
  /** As given, in the order in which values are reported. */
  readonly paths: readonly string[];
  readonly root: PathNode;
  /** The keys on the way of a path, as a search finds them. */
  readonly marks: readonly KeyMark[];
}

interface Draft {
  readonly name: string;
  readonly children: Map<string, Draft>;
  index: number;
}

/**
 * Compiles paths such as `spec.nodeName`. A path leads through objects to a string, number or boolean; arrays have no
 * paths. A dot within a key is written `\.`, as in `metadata.annotations.example\.com/role`.
 *
 * @throws TypeError when a path is empty, has an empty part, or is given twice
 */
export function compileFieldPaths(paths: readonly string[]): FieldPaths {
  const root: Draft = { name: '', children: new Map(), index: -1 };
  for (const [index, path] of paths.entries()) {
    let node = root;
    for (const part of splitPath(path)) {
      let child = node.children.get(part);
      if (child === undefined) node.children.set(part, (child = { name: part, children: new Map(), index: -1 }));
      node = child;
    }
    if (node.index >= 0) throw new TypeError(`compileFieldPaths: path ${JSON.stringify(path)} is given twice`);
    node.index = index;
  }
  return { paths: [...paths], root: build(root), marks: marksOf(paths) };
}

/** Splits a path at its dots. @throws TypeError as {@link compileFieldPaths} */
export function splitPath(path: string): string[] {
  const parts = path.split(/(?<!\\)\./).map((part) => part.replaceAll('\\.', '.'));
  if (parts.some((part) => part === ''))
    throw new TypeError(
      `field path ${JSON.stringify(path)} is not valid: expected names joined by dots, as in spec.nodeName`,
    );
  return parts;
}

/** Returns the value at a path of a parsed object, as a string; undefined if it is not a string, number or boolean. */
export function fieldAt(object: unknown, parts: readonly string[]): string | undefined {
  let value: unknown = object;
  for (const part of parts) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, part))
      return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
    // An integer beyond 2^53.
    case 'bigint':
      return String(value);
    default:
      return undefined;
  }
}

function build(draft: Draft): PathNode {
  const children = [...draft.children.values()].map(build);
  return { key: [...Buffer.from(draft.name)], children, index: draft.index };
}

function marksOf(paths: readonly string[]): KeyMark[] {
  return [...new Set(paths.flatMap(splitPath))].map((name) => {
    const key = Buffer.from(`"${name}"`);
    const endAt = rarestIn(key);
    return { key: [...key], end: key.subarray(endAt), endAt };
  });
}

/** Position of the rarest letter of a key, ignoring the closing quote. */
function rarestIn(key: Uint8Array): number {
  let rarest = 1;
  for (let at = 2; at < key.length - 1; at++) if (rarity(key[at]) > rarity(key[rarest])) rarest = at;
  return rarest;
}

const byFrequency = [...Buffer.from('0123456789etaoinsrlcdpumhgfbvkwyxjqz')];

function rarity(byte = 0): number {
  const at = byFrequency.indexOf(byte);
  return at < 0 ? byFrequency.length : at;
}
