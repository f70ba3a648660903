/** What {@link asLibyaml} changes. */
export interface Leniency {
  /**
   * Indents the lines that a quoted scalar or a flow collection continues in: libyaml ignores their indentation, so that a
   * closing quote or bracket may stand below its key.
   */
  readonly indentation?: boolean;
  /** Quotes a plain scalar that ends in a colon before `,`, `]` or `}`, such as `[fd00::]`: libyaml ends no key there. */
  readonly colons?: boolean;
}

/** A string whose meaning to a parser of YAML 1.2 is that which the given one has for libyaml. Lines keep their numbers. */
export function asLibyaml(source: string, { indentation = false, colons = false }: Leniency): string {
  const out: string[] = [];
  /** Closing characters that are missing, from the outside in. */
  const open: string[] = [];
  /** Spaces that put a continued line behind the start of what it continues. */
  let shift = '';
  /** Lines that are indented more than this are content of a block scalar. */
  let blockIndent = -1;
  for (const line of source.split('\n')) {
    const indent = line.search(/[^ ]|$/);
    if (blockIndent >= 0 && (line.trim() === '' || indent > blockIndent)) {
      out.push(line);
      continue;
    }
    blockIndent = -1;
    const continues = open.length > 0;
    let [text, at, isStart, token] = [line, continues ? 0 : indent, true, -1];
    while (at < text.length) {
      const close = open.at(-1);
      if (close === '"' || close === "'") {
        at = endOfQuoted(text, at, close);
        if (at < 0) break;
        open.pop();
        isStart = false;
        continue;
      }
      const character = text[at] ?? '';
      if (character === '#' && (at === 0 || /\s/.test(text[at - 1] ?? ''))) break;
      const isFlow = close !== undefined;
      if (isFlow && colons && token >= 0 && character === ':' && /[,\]}]/.test(text[at + 1] ?? '')) {
        const quoted = JSON.stringify(text.slice(token, at + 1));
        text = text.slice(0, token) + quoted + text.slice(at + 1);
        at = token + quoted.length;
        token = -1;
        continue;
      }
      if (isStart && (character === '"' || character === "'")) {
        if (!isFlow) shift = ' '.repeat(at + 1);
        open.push(character);
      } else if (isFlow && character === close) {
        open.pop();
        isStart = false;
        token = -1;
      } else if ((isStart || isFlow) && (character === '{' || character === '[')) {
        if (!isFlow) shift = ' '.repeat(at + 1);
        open.push(character === '{' ? '}' : ']');
        isStart = true;
        token = -1;
      } else if (isIndicator(text, at, { isFlow, isStart })) {
        isStart = true;
        token = -1;
      } else if (isStart && /[&!*]/.test(character)) {
        at = text.slice(at).search(/[\s,\]}]|$/) + at;
        continue;
      } else if (character !== ' ' && character !== '\t') {
        if (isStart) token = at;
        isStart = false;
      }
      at++;
    }
    out.push(indentation && continues ? shift + text : text);
    if (open.length === 0 && /(?:^|[\s:-])[|>][-+0-9]*\s*(?:#.*)?$/.test(line)) blockIndent = indent;
  }
  return out.join('\n');
}

/** Offset after the closing quote; -1 if the scalar goes on in the next line. */
function endOfQuoted(line: string, from: number, quote: string): number {
  for (let at = from; at < line.length; at++)
    if (quote === '"' && line[at] === '\\') at++;
    else if (line[at] === quote) {
      if (quote === '"' || line[at + 1] !== quote) return at + 1;
      at++;
    }
  return -1;
}

/**
 * Whether a node may begin after this character: `- ` and `? ` at the start of a node, `: `, and `,` of a flow
 * collection.
 */
function isIndicator(line: string, at: number, { isFlow, isStart }: { isFlow: boolean; isStart: boolean }): boolean {
  const character = line[at] ?? '';
  if (isFlow && (character === ',' || (character === ':' && /["'\]}]/.test(line[at - 1] ?? '')))) return true;
  return (isStart ? /[-?:]/ : /:/).test(character) && /^(?:\s|$)/.test(line.slice(at + 1, at + 2));
}
