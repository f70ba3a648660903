import { RE2JS } from 're2js';
import { Failure } from '../values/value.js';

/** The most recent compiled regular expressions. Matching takes time linear in the input. */
export class RegexCache {
  readonly #compiled = new Map<string, RE2JS | Failure>();

  /** The compiled regular expression, or why it is invalid, in Go's words. */
  get(source: string): RE2JS | Failure {
    const known = this.#compiled.get(source);
    if (known !== undefined) return known;
    const compiled = compile(source);
    if (this.#compiled.size >= 100) {
      const [oldest = ''] = this.#compiled.keys();
      this.#compiled.delete(oldest);
    }
    this.#compiled.set(source, compiled);
    return compiled;
  }
}

function compile(source: string): RE2JS | Failure {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    return new Failure(error instanceof Error ? error.message : 'error parsing regexp');
  }
}
