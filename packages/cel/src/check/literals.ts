import { RE2JS } from 're2js';
import type { Expr } from '../syntax/ast.js';
import type { Issues } from '../syntax/issues.js';
import { parseGoDuration, parseRfc3339 } from '../values/time.js';
import type { Checked } from './checker.js';

/** Every expression in a tree, once. */
export function* walk(root: Expr): Iterable<Expr> {
  const seen = new Set<number>();
  const stack: Expr[] = [root];
  for (let expr = stack.pop(); expr !== undefined; expr = stack.pop()) {
    if (seen.has(expr.id)) continue;
    seen.add(expr.id);
    yield expr;
    stack.push(...childrenOf(expr));
  }
}

function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case 'list':
      return expr.elements.map(({ value }) => value);
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return expr.fields.map(({ value }) => value);
    case 'comprehension':
      return [expr.range, expr.accuInit, expr.condition, expr.step, expr.result];
  }
}

function isRegex(text: string): boolean {
  try {
    RE2JS.compile(text);
    return true;
  } catch {
    return false;
  }
}

const validators: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['duration', (text: string) => parseGoDuration(text) !== undefined],
  ['timestamp', (text: string) => parseRfc3339(text) !== undefined],
  ['matches', isRegex],
]);

/** Reports literals that a function can only fail on: `duration('x')`, `matches('(')`. */
export function validateLiterals(checked: Checked, issues: Issues): void {
  for (const expr of walk(checked.expr)) {
    if (expr.kind !== 'call') continue;
    const name = checked.calls.get(expr.id)?.name ?? '';
    const isValid = validators.get(name);
    const literal = expr.args.at(name === 'matches' ? -1 : 0);
    if (isValid === undefined || literal?.kind !== 'literal' || typeof literal.value !== 'string') continue;
    if (!isValid(literal.value)) issues.report(literal.offset, `invalid ${name} argument`);
  }
}
