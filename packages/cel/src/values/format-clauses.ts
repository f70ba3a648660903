/** `%.2f`: what is written in its place. */
export interface FormatClause {
  readonly kind: 'clause';
  readonly verb: string;
  readonly precision: number | undefined;
}

/** A part of a template of `format`, which is literal characters, a clause, `%` at the end, or an error in a clause. */
export type FormatPart =
  | { readonly kind: 'text'; readonly text: string }
  | FormatClause
  | { readonly kind: 'end' }
  | { readonly kind: 'problem'; readonly problem: string };

const verbs: ReadonlySet<string> = new Set(['s', 'd', 'f', 'e', 'b', 'x', 'X', 'o']);
const maxInt64 = 2n ** 63n - 1n;

function precisionProblem(problem: string): FormatPart {
  return { kind: 'problem', problem: `error while parsing precision: ${problem}` };
}

/** A clause behind its `%`. */
function clause(rest: string): readonly [part: FormatPart, length: number] {
  if (rest === '') return [{ kind: 'end' }, 0];
  const [dot = '', digits = ''] = /^\.(\d*)/.exec(rest) ?? [];
  const verb = rest.charAt(dot.length);
  if (dot !== '') {
    if (verb === '') return [precisionProblem('could not find end of precision specifier'), dot.length];
    const isNumber = digits !== '' && BigInt(digits) <= maxInt64;
    if (!isNumber) {
      const cause = digits === '' ? 'invalid syntax' : 'value out of range';
      const text = `error while converting precision to integer: strconv.Atoi: parsing ${JSON.stringify(digits)}: ${cause}`;
      return [precisionProblem(text), dot.length];
    }
  }
  const length = dot.length + 1;
  if (verbs.has(verb)) return [{ kind: 'clause', verb, precision: dot === '' ? undefined : Number(digits) }, length];
  // Upstream reads a byte and shows it as a character.
  const byte = new TextEncoder().encode(rest.slice(dot.length))[0] ?? 0;
  return [{ kind: 'problem', problem: `unrecognized formatting clause "${String.fromCharCode(byte)}"` }, length];
}

/** Reads a template of `format` up to its first mistake. */
export function* formatParts(template: string): Generator<FormatPart, void> {
  let at = 0;
  while (at < template.length) {
    const next = template.indexOf('%', at);
    const end = next < 0 ? template.length : next;
    if (end > at) yield { kind: 'text', text: template.slice(at, end) };
    if (next < 0) return;
    if (template[next + 1] === '%') {
      yield { kind: 'text', text: '%' };
      at = next + 2;
      continue;
    }
    const [part, length] = clause(template.slice(next + 1));
    yield part;
    at = next + 1 + length;
  }
}
