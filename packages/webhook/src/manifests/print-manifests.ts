/**
 * Prints manifests. A separate entry point, so that a program which prints some loads nothing else.
 *
 * @packageDocumentation
 */
import { requireList } from '@kctl/client/internal';
import { parseJson, stringifyJson } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';

/**
 * Returns manifests as a YAML stream that `kubectl apply -f -` reads. Strings that a reader of YAML 1.1 or 1.2 could
 * take for something else, such as `on` or `1e3`, are quoted.
 */
export function printManifests(manifests: readonly KubeObject[]): string {
  requireList('printManifests', 'manifests', manifests, 'a list of objects');
  return manifests.map((manifest) => `---\n${block(parseJson(stringifyJson(manifest)), '')}`).join('');
}

type Collection = readonly unknown[] | Readonly<Record<string, unknown>>;

/** A collection in lines that begin with `indent`; anything else in one line. */
function block(value: unknown, indent: string): string {
  if (!isBlock(value)) return `${indent}${inline(value)}\n`;
  if (Array.isArray(value)) return value.map((item) => `${indent}- ${block(item, `${indent}  `).trimStart()}`).join('');
  return Object.entries(value)
    .map(([key, member]) => `${indent}${text(key)}:${afterKey(member, indent)}`)
    .join('');
}

function afterKey(value: unknown, indent: string): string {
  return isBlock(value) ? `\n${block(value, `${indent}  `)}` : ` ${inline(value)}\n`;
}

/** Empty ones have no lines and are written as in JSON. */
function isBlock(value: unknown): value is Collection {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function inline(value: unknown): string {
  return typeof value === 'string' ? text(value) : stringifyJson(value);
}

/** Words and paths. Digits only behind a letter, and no `:` or `#`: neither a number, nor a time, nor a mapping. */
const isPlain = /^[A-Za-z/][A-Za-z0-9_./-]*$/;
const meansSomething = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
/** Values that JSON keeps unchanged, and YAML does not print. */
const unprintable = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** A string in double quotes is written in YAML as in JSON. */
function text(value: string): string {
  if (isPlain.test(value) && !meansSomething.test(value)) return value;
  return JSON.stringify(value).replace(
    unprintable,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
