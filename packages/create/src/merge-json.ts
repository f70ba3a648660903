import { isDeepStrictEqual } from 'node:util';
import { applyEdits, modify, parse, type ParseError } from 'jsonc-parser';

/** A merge of two JSON documents with a common base. */
export interface MergedJson {
  /** That of `ours`, with its order, comments and white space in unchanged parts. */
  readonly text: string;
  /** A sentence for each value that both have changed differently; that of `ours` stays. */
  readonly undecided: readonly string[];
}

type Values = Readonly<Record<string, unknown>>;

interface Change {
  readonly path: readonly string[];
  /** Undefined if the property is removed. */
  readonly value: unknown;
  /** The property that it stands behind in `theirs`. */
  readonly after: string | undefined;
}

/**
 * Merges value by value, because a merge by lines would put markers into a file that npm reads, as soon as an author
 * adds a dependency beside one whose version changes. Properties removed by an author stay removed. Undefined if an
 * input is not a JSON object.
 */
export function mergeJson(base: string, ours: string, theirs: string): MergedJson | undefined {
  const [o, a, b] = [base, ours, theirs].map(objectOf);
  if (o === undefined || a === undefined || b === undefined) return undefined;
  const changes: Change[] = [];
  const undecided: string[] = [];
  compare([], [o, a, b], { changes, undecided });
  const options = {
    insertSpaces: !/^\t/m.test(ours),
    tabSize: indentOf(ours),
    eol: ours.includes('\r\n') ? '\r\n' : '\n',
  };
  let text = ours;
  for (const { path, value, after } of changes)
    text = applyEdits(
      text,
      modify(text, [...path], value, {
        formattingOptions: options,
        getInsertionIndex: (names) => names.indexOf(after ?? '') + 1 || (after === undefined ? 0 : names.length),
      }),
    );
  return { text, undecided };
}

interface Found {
  readonly changes: Change[];
  readonly undecided: string[];
}

function compare(at: readonly string[], [base, ours, theirs]: readonly [Values, Values, Values], found: Found): void {
  const order = Object.keys(theirs);
  for (const name of new Set([...order, ...Object.keys(base)])) {
    const [o, a, b] = [base, ours, theirs].map((each) => (Object.hasOwn(each, name) ? each[name] : undefined));
    if (isDeepStrictEqual(o, b) || isDeepStrictEqual(a, b)) continue;
    const path = [...at, name];
    if (isDeepStrictEqual(a, o)) found.changes.push({ path, value: b, after: order[order.indexOf(name) - 1] });
    else if (isValues(a) && isValues(b)) compare(path, [isValues(o) ? o : {}, a, b], found);
    else if (a !== undefined && b !== undefined)
      found.undecided.push(
        `${path.join('.')} stays ${JSON.stringify(a)}, as you have it: a new project has ${JSON.stringify(b)}`,
      );
  }
}

function objectOf(text: string): Values | undefined {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  return errors.length === 0 && isValues(value) ? value : undefined;
}

function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** How far the first property stands from the margin. */
function indentOf(text: string): number {
  return /^( +)"/m.exec(text)?.[1]?.length ?? 2;
}
