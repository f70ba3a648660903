import { YamlError } from './errors.js';
import type { AliasNode, CollectionNode, ScalarNode, YamlNode } from './nodes.js';
import { keyOf, resolvePlain, resolveTagged, type Scalar } from './scalars.js';

/** A key that a mapping has more than once. The last one counts. */
export interface DuplicateKey {
  /** Line of the later value, from 1. */
  readonly line: number;
  /** As Go prints it: a string in quotes, `5`, `true`. */
  readonly key: string;
}

/** A value of JSON, with a bigint for an integer that a number does not hold. */
export type YamlValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly YamlValue[]
  | { readonly [key: string]: YamlValue };

/** The value of a node and the keys that are there more than once. @throws YamlError */
export function decode(node: YamlNode): { readonly value: YamlValue; readonly duplicates: readonly DuplicateKey[] } {
  const decoder = new Decoder();
  try {
    return { value: decoder.value(node), duplicates: decoder.duplicates };
  } catch (error) {
    if (error instanceof RangeError) throw new YamlError('exceeded max depth', node.line, { cause: error });
    throw error;
  }
}

/** Decoded nodes up to which almost all may come from aliases, and from which a tenth may. */
const [manyNodes, tooManyNodes] = [400_000, 4_000_000];

class Decoder {
  readonly duplicates: DuplicateKey[] = [];
  /** Aliases whose target is being decoded. */
  readonly #following = new Set<YamlNode>();
  #decoded = 1;
  #fromAliases = 0;

  value(node: YamlNode): YamlValue {
    this.#count(node);
    switch (node.kind) {
      case 'scalar':
        return jsonOf(resolve(node), node.line);
      case 'sequence':
        return node.items.map((item) => this.value(item));
      case 'mapping': {
        const members = new Map<string, YamlValue>();
        this.#into(node, members);
        return Object.fromEntries(members);
      }
      case 'alias':
        return this.#follow(node, (target) => this.value(target));
    }
  }

  /** go-yaml's guard against documents that grow by their aliases. */
  #count({ line }: YamlNode): void {
    this.#decoded++;
    if (this.#following.size > 0) this.#fromAliases++;
    if (this.#fromAliases <= 100 || this.#decoded <= 1000) return;
    const above = Math.min(Math.max(this.#decoded - manyNodes, 0), tooManyNodes - manyNodes);
    const allowed = 0.99 - 0.89 * (above / (tooManyNodes - manyNodes));
    if (this.#fromAliases / this.#decoded > allowed) throw new YamlError('document contains excessive aliasing', line);
  }

  #follow<T>({ name, line, target }: AliasNode, use: (target: YamlNode) => T): T {
    if (this.#following.has(target)) throw new YamlError(`anchor '${name}' value contains itself`, line);
    this.#following.add(target);
    try {
      return use(target);
    } finally {
      this.#following.delete(target);
    }
  }

  /** Adds the members of a mapping in their order. `<<` adds those of others at its place, over what stands before it. */
  #into({ items }: CollectionNode, members: Map<string, YamlValue>, seen = new Set<string>()): void {
    for (let index = 0; index + 1 < items.length; index += 2) {
      const [keyNode, valueNode] = [items[index], items[index + 1]];
      if (keyNode === undefined || valueNode === undefined) continue;
      if (isMerge(keyNode)) {
        this.#merge(valueNode, members, seen);
        continue;
      }
      const key = this.#key(keyNode);
      const typed = typedKey(key);
      if (seen.has(typed)) this.duplicates.push({ line: valueNode.line, key: typed });
      seen.add(typed);
      const name = keyOf(key);
      if (name === undefined) throw new YamlError(`unsupported map key: ${String(key.value)}`, keyNode.line);
      members.set(name, this.value(valueNode));
    }
  }

  #key(node: YamlNode): Scalar {
    this.#count(node);
    if (node.kind === 'alias') return this.#follow(node, (target) => this.#key(target));
    if (node.kind !== 'scalar') throw new YamlError(`invalid map key: a ${node.kind}`, node.line);
    return resolve(node);
  }

  #merge(node: YamlNode, members: Map<string, YamlValue>, seen: Set<string>): void {
    switch (node.kind) {
      case 'mapping':
        this.#count(node);
        this.#into(node, members, seen);
        return;
      case 'alias':
        this.#count(node);
        if (node.target.kind === 'mapping') {
          this.#follow(node, (target) => this.#merge(target, members, seen));
          return;
        }
        break;
      case 'sequence':
        // The first one counts, so it comes last.
        for (const item of node.items.toReversed())
          if (item.kind === 'sequence') throw notMergeable(item.line);
          else this.#merge(item, members, seen);
        return;
      case 'scalar':
        break;
    }
    throw notMergeable(node.line);
  }
}

const notMergeable = (line: number): YamlError =>
  new YamlError('map merge requires map or sequence of maps as the value', line);

function isMerge(node: YamlNode): boolean {
  return (
    node.kind === 'scalar' &&
    node.source === '<<' &&
    (node.tag === '' ? node.isPlain : node.tag === '!' || node.tag === 'tag:yaml.org,2002:merge')
  );
}

function resolve({ tag, isPlain, source, line }: ScalarNode): Scalar {
  if (tag === '') return isPlain ? resolvePlain(source) : { type: 'string', value: source };
  const found = resolveTagged(tag, source);
  if ('problem' in found) throw new YamlError(found.problem, line);
  return found;
}

function jsonOf({ type, value }: Scalar, line: number): YamlValue {
  if (type === 'integer') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (type === 'float' && !Number.isFinite(value)) throw new YamlError(`unsupported value: ${goFloat(value)}`, line);
  return value;
}

const goFloat = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf');

/** The key as Go prints it with its type, so that `1` and `"1"` are two. */
function typedKey(key: Scalar): string {
  return key.type === 'string' ? JSON.stringify(key.value) : key.type === 'null' ? '<nil>' : String(key.value);
}
