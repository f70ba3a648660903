import { isObject } from '@kctl/crd/engine';
import { messageOf } from '@kctl/telemetry';
import type { Tags } from 'yaml';
import { inlineDepth, scanJson } from './strict-json.js';

/** What is wrong with a YAML document. */
export class YamlProblem extends Error {
  override readonly name = 'YamlProblem';
  readonly code = 'KCTL_YAML';
}

/**
 * The value of a YAML document. The library is loaded with the first of them: few servers need it.
 *
 * @throws YamlProblem
 */
export async function readYaml(text: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  let document: ReturnType<typeof parseDocument>;
  try {
    document = parseDocument(text, readOptions);
  } catch (error) {
    throw error instanceof RangeError ? new YamlProblem('exceeded max depth') : new YamlProblem(messageOf(error));
  }
  return valueOf(document);
}

/** The values of the documents of a text; those without content are left out. @throws YamlProblem */
export async function readYamlDocuments(text: string): Promise<readonly unknown[]> {
  const { parseAllDocuments } = await import('yaml');
  return [...parseAllDocuments(text, readOptions)].map(valueOf).filter((value) => value !== null);
}

const readOptions = {
  intAsBigInt: true,
  uniqueKeys: false,
  merge: false,
  schema: 'yaml-1.1',
  customTags: (tags: Tags) => tags.filter((tag) => typeof tag === 'string' || !isText(tag)),
  logLevel: 'error',
} as const;

interface ParsedDocument {
  readonly errors: readonly Error[];
  toJS(options: { readonly maxAliasCount: number }): unknown;
}

function valueOf(document: ParsedDocument): unknown {
  const [error] = document.errors;
  if (error !== undefined) throw new YamlProblem(error.message);
  return plain(read(() => document.toJS({ maxAliasCount: 100 })));
}

/** Go's YAML leaves dates and numbers to the base of 60 as the texts that they are. */
function isText(tag: { readonly tag: string; readonly format?: string }): boolean {
  return tag.tag === 'tag:yaml.org,2002:timestamp' || tag.format === 'TIME';
}

/** Reads the values out of a document; anchors that contain themselves and alias bombs are the client's mistakes. */
function read(values: () => unknown): unknown {
  try {
    return values();
  } catch (error) {
    if (error instanceof ReferenceError) throw new YamlProblem('document contains excessive aliasing');
    if (error instanceof RangeError) throw new YamlProblem('exceeded max depth');
    throw new YamlProblem(messageOf(error));
  }
}

/** Integers that a double holds become numbers; dates become the text they were. @throws YamlProblem for a cycle */
function plain(value: unknown, depth = 0): unknown {
  if (depth > inlineDepth) throw new YamlProblem('exceeded max depth');
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member, depth + 1)]));
}

/** Lists from this length on are written item by item: the library needs a hundred times the memory of what it writes. */
const wholeLength = 1024 * 1024;

/** A JSON text as YAML, with its members in alphabetical order, as upstream's YAML has them. */
export async function toYaml(json: string): Promise<string> {
  const { stringify } = await import('yaml');
  const { value } = scanJson(json);
  const write = (part: unknown): string => stringify(part, { sortMapEntries: true, compat: 'yaml-1.1' });
  if (!isObject(value)) return stringify(value);
  const { items, ...others } = value;
  if (json.length < wholeLength || !Array.isArray(items) || items.length < 2) return write(value);
  // Other members stand before and after the items, by their names.
  const some = (isBefore: boolean): string => {
    const members = Object.entries(others).filter(([name]) => name < 'items' === isBefore);
    return members.length === 0 ? '' : write(Object.fromEntries(members));
  };
  const texts = items.map((item: unknown) => write([item]).replaceAll(/^(?=.)/gm, '  '));
  return `${some(true)}items:\n${texts.join('')}${some(false)}`;
}
