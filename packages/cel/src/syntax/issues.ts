/** One finding about an expression. */
export interface CelIssue {
  /** The message, in cel-go's words. */
  readonly message: string;
  /** Line, from 1. */
  readonly line: number;
  /** Column in characters, from 1. */
  readonly column: number;
}

/** Collects the errors of one source. */
export class Issues {
  readonly #source: string;
  readonly #lineStarts: readonly number[];
  readonly #found: { readonly message: string; readonly offset: number }[] = [];

  constructor(source: string) {
    this.#source = source;
    const starts = [0];
    for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
    this.#lineStarts = starts;
  }

  get count(): number {
    return this.#found.length;
  }

  report(offset: number, message: string): void {
    if (this.#found.length < 100) this.#found.push({ message, offset });
  }

  #lineOf(offset: number): number {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The findings in source order. */
  list(): CelIssue[] {
    return [...this.#found]
      .sort((a, b) => a.offset - b.offset)
      .map(({ message, offset }) => {
        const line = this.#lineOf(offset);
        const column = Array.from(this.#source.slice(this.#lineStarts[line] ?? 0, offset)).length;
        return { message, line: line + 1, column: column + 1 };
      });
  }

  /** The findings with the source line and a mark below it, as cel-go prints them. */
  format(): string {
    const texts = this.list().map(({ message, line, column }) => {
      const start = this.#lineStarts[line - 1] ?? 0;
      const end = this.#source.indexOf('\n', start);
      const snippet = this.#source.slice(start, end < 0 ? undefined : end).replaceAll('\t', ' ');
      const before = Array.from(snippet).slice(0, column - 1);
      const dots = before.map((char) => (isWide(char) ? '\uff0e' : '.')).join('');
      return `ERROR: <input>:${line}:${column}: ${message}\n | ${snippet}\n | ${dots}${isWide(Array.from(snippet)[column - 1] ?? '') ? '\uff3e' : '^'}`;
    });
    return texts.join('\n');
  }
}

function isWide(char: string): boolean {
  return new TextEncoder().encode(char).length > 1;
}
