import { RE2JS } from 're2js';
import { Failure } from '../values/value.js';

/** Compiled expressions, the most recent ones: an expression matches in time linear in the text. */
export class RegexCache {
  readonly #compiled = new Map<string, RE2JS | Failure>();

  /** The compiled expression, or why the text is none, in Go's words. */
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
