import { decode, type DuplicateKey, type YamlValue } from './decode.js';
import { isYamlError, YamlError } from './errors.js';
import { parseNodes } from './nodes.js';

/** A document that was read. */
export interface YamlDocument {
  /** Null for a document without content. */
  readonly value: YamlValue;
  /** Line of the stream that the document begins at, from 1. */
  readonly line: number;
  /** Keys that a mapping of the document has more than once. kubectl takes the last of each, as `value` does. */
  readonly duplicates: readonly DuplicateKey[];
}

/** A document of a stream that cannot be read. */
export interface YamlFailure {
  readonly line: number;
  readonly error: YamlError;
}

/**
 * Reads the first document of a string of YAML or JSON, as `sigs.k8s.io/yaml` does: with the scalar rules of go-yaml, the last
 * of duplicate keys, non-string keys as strings, `<<` merged, and a byte order mark skipped.
 *
 * @throws YamlError for what is not YAML, and for what has no JSON form (`.nan`, a null key)
 */
export function readYaml(text: string): YamlDocument {
  return read(text, 1);
}

/**
 * Reads every document of a string, divided as kubectl divides a file: at lines that begin with `---`. Documents without
 * content are left out. One that cannot be read does not affect the others.
 */
export function readYamlDocuments(text: string): readonly (YamlDocument | YamlFailure)[] {
  return parts(text).flatMap(({ source, line, problem }): (YamlDocument | YamlFailure)[] => {
    if (problem !== undefined) return [{ line, error: problem }];
    try {
      const document = read(source, line);
      return document.value === null ? [] : [document];
    } catch (error) {
      if (isYamlError(error)) return [{ line, error }];
      throw error;
    }
  });
}

function read(text: string, line: number): YamlDocument {
  const source = text.replaceAll(/^\ufeff/gm, '');
  try {
    const node = parseNodes(firstDocument(source), line);
    return node === undefined ? { value: null, line, duplicates: [] } : { ...decode(node), line };
  } catch (error) {
    // JSON may be indented with tabs, which YAML does not allow.
    if (!isYamlError(error) || !/^\s*\{/.test(source)) throw error;
    const value = readJson(source);
    if (value === undefined) throw error;
    return { value, line, duplicates: [] };
  }
}

function readJson(source: string): YamlValue | undefined {
  try {
    return parseJson(source, (_key, member: unknown, context?: { readonly source?: string }) => {
      const digits = context?.source;
      if (typeof member !== 'number' || digits === undefined || Number.isSafeInteger(member)) return member;
      return /^-?\d+$/.test(digits) ? BigInt(digits) : member;
    });
  } catch {
    return undefined;
  }
}

const parseJson: (
  text: string,
  reviver: (key: string, member: unknown, context?: { readonly source?: string }) => unknown,
) => YamlValue = JSON.parse;

/** What follows the end of the first document is not read, and may be anything. */
function firstDocument(source: string): string {
  const start = /^(?!\s*(?:#|%|$|---(?:\s|$)))/m.exec(source)?.index ?? source.length;
  const end = /^(?:---|\.\.\.)(?=\s|$)/gm;
  end.lastIndex = start;
  const match = end.exec(source);
  return match === null ? source : source.slice(0, match.index);
}

interface Part {
  readonly source: string;
  readonly line: number;
  readonly problem?: YamlError;
}

function parts(text: string): readonly Part[] {
  const found: Part[] = [];
  let lines: string[] = [];
  let first = 1;
  const end = (next: number): void => {
    if (lines.length > 0) found.push({ source: `${lines.join('\n')}\n`, line: first });
    lines = [];
    first = next;
  };
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const separator = /^\ufeff?---(.*)$/s.exec(line);
    if (separator === null) {
      lines.push(line);
      continue;
    }
    end(index + 2);
    const rest = (separator[1] ?? '').trim();
    if (rest !== '' && !rest.startsWith('#')) {
      const problem = new YamlError(`invalid Yaml document separator: ${rest}`, index + 1);
      found.push({ source: '', line: index + 1, problem });
    }
  }
  end(1);
  return found;
}
