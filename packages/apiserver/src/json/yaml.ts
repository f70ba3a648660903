import { isObject } from '@kctl/crd/internal/engine';
import { messageOf } from '@kctl/telemetry/internal';
import type { DuplicateKey, YamlDocument } from '@kctl/yaml';
import { scanJson } from './strict-json.js';

/** An error in a YAML document. */
export class YamlProblem extends Error {
  override readonly name = 'YamlProblem';
  readonly code = 'KCTL_YAML';
}

/**
 * The value of the first document of a string, and the keys that it has more than once. The library is loaded with the
 * first of them, since few servers need it.
 *
 * @throws YamlProblem
 */
export async function readYaml(text: string): Promise<YamlDocument> {
  const yaml = await import('@kctl/yaml');
  try {
    return yaml.readYaml(text);
  } catch (error) {
    throw problemOf(error);
  }
}

/** The values of the documents of a string; those without content are left out. @throws YamlProblem */
export async function readYamlDocuments(text: string): Promise<readonly unknown[]> {
  const yaml = await import('@kctl/yaml');
  return yaml.readYamlDocuments(text).map((document) => {
    if ('error' in document) throw problemOf(document.error);
    return document.value;
  });
}

/** The error that upstream's strict reader gives for keys that are there more than once. */
export function duplicateKeys(duplicates: readonly DuplicateKey[]): readonly string[] {
  if (duplicates.length === 0) return [];
  const lines = duplicates.map(({ line, key }) => `  line ${line}: key ${key} already set in map`);
  return [`yaml: unmarshal errors:\n${lines.join('\n')}`];
}

/** Errors of the library with one counterpart in go-yaml, in its words. */
const goWords: readonly (readonly [RegExp, string])[] = [
  [/unexpected end of the stream within a (?:double|single) quoted scalar/, 'found unexpected end of stream'],
  [/tab characters must not be used in indentation/, 'found character that cannot start any token'],
  [/unacceptable YAML version of the document/, 'found incompatible YAML document'],
  [/directive name must not be less than one character in length/, 'could not find expected directive name'],
  [/expected hexadecimal character/, 'did not find expected hexdecimal number'],
  [/cannot decode "(.*)" as a/s, 'cannot decode !!str `$1` as a'],
];

function problemOf(error: unknown): YamlProblem {
  // go-yaml counts lines from 0 and does not print the first one, nor that of an alias.
  const message = messageOf(error).replace(/^line 1: |^line \d+: (?=unknown anchor )/, '');
  const words = goWords.find(([pattern]) => pattern.test(message));
  return new YamlProblem(`yaml: ${words === undefined ? message : message.replace(...words)}`, { cause: error });
}

/**
 * Lists from this length on are written item by item, because the library needs a hundred times the memory of its
 * output.
 */
const wholeLength = 1024 * 1024;

/** JSON as YAML, with its members in alphabetical order, as upstream's YAML has them. */
export async function toYaml(json: string): Promise<string> {
  const { writeYaml } = await import('@kctl/yaml');
  const { value } = scanJson(json);
  const write = (part: unknown): string => writeYaml(part, { sortKeys: true });
  if (!isObject(value)) return writeYaml(value);
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
