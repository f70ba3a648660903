import { RE2JS } from 're2js';
import { messageOf } from '@kctl/telemetry/internal';

/** A regular expression with Go's syntax and meaning. Matching takes time linear in the input. */
export interface Pattern {
  /** As written. */
  readonly source: string;
  /** Approximate maximum number of steps to match one character, which is the size of the compiled program. */
  readonly size: number;
  /** Whether the input contains a match. */
  test(text: string): boolean;
}

/** A pattern, or why it is invalid, in Go's words. */
export type CompiledPattern = { readonly pattern: Pattern } | { readonly problem: string };

/** Compiles a Go (RE2) regular expression, as the API server does with the patterns of a schema. */
export function compilePattern(source: string): CompiledPattern {
  try {
    const expression = RE2JS.compile(source);
    return { pattern: { source, size: expression.programSize(), test: (text) => expression.test(text) } };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** A pattern that is compiled when it is first used. One that is not valid matches everything: CRDs with it are refused. */
export function lazyPattern(source: string): Pattern {
  let compiled: CompiledPattern | undefined;
  const use = (): Pattern | undefined => {
    compiled ??= compilePattern(source);
    return 'pattern' in compiled ? compiled.pattern : undefined;
  };
  return {
    source,
    get size() {
      return use()?.size ?? 0;
    },
    test: (text) => use()?.test(text) ?? true,
  };
}
