import '@kctl/telemetry/require-in-bundles'; // before a CommonJS package
import { messageOf } from '@kctl/telemetry';
import { isJsonObject } from '@kctl/apimachinery';
import type { JsonObject } from '@kctl/apimachinery';
import { parseAllDocuments } from 'yaml';

/** A document, or what is wrong with it. */
export interface ParsedDocument {
  readonly value: unknown;
  /** For errors, such as `site.yaml: document 2`. */
  readonly place: string;
  readonly problem?: string;
}

/** Aliases that one document may resolve to. */
const maxAliasCount = 100;

/**
 * The documents of a text of YAML or JSON, as kubectl reads them: YAML 1.1 without base-60 numbers, so that `0644` is octal
 * and `yes` is true. Empty documents are left out.
 */
export function parseText(text: string, place: string): readonly ParsedDocument[] {
  const documents = parseAllDocuments(text, {
    schema: 'yaml-1.1',
    merge: true,
    intAsBigInt: true,
    logLevel: 'error',
    customTags: (tags) =>
      tags.filter(
        (tag) =>
          typeof tag === 'string' ||
          (tag.tag !== 'tag:yaml.org,2002:timestamp' && !('format' in tag && tag.format === 'TIME')),
      ),
  });
  if (!Array.isArray(documents)) return [];
  return [...documents].flatMap((document, index): ParsedDocument[] => {
    const where = documents.length === 1 ? place : `${place}: document ${index + 1}`;
    const [error] = document.errors;
    if (error !== undefined)
      return [{ value: undefined, place: where, problem: `not YAML: ${firstLine(error.message)}` }];
    try {
      const value = plain(document.toJS({ maxAliasCount }));
      return value === null || value === undefined ? [] : [{ value, place: where }];
    } catch (error) {
      return [{ value: undefined, place: where, problem: `not valid: ${firstLine(messageOf(error))}` }];
    }
  });
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? text).replace(/:$/, '');
}

/** Integers that a double holds become numbers. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(plain);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([key, member]): [string, unknown] => [key, plain(member)]);
  const object: JsonObject = Object.fromEntries(members);
  return object;
}
