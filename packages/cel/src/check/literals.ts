import { RE2JS } from 're2js';
import type { CallExpr, Expr } from '../syntax/ast.js';
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

interface FormatClause {
  readonly kinds: readonly string[];
  readonly problem: string;
}

const integers: FormatClause = { kinds: ['int', 'uint'], problem: 'clause can only be used on integers' };
const reals: FormatClause = { kinds: ['double', 'string'], problem: 'clause can only be used on doubles' };
const clauses: ReadonlyMap<string, FormatClause> = new Map([
  ['d', { ...integers, problem: `decimal ${integers.problem}` }],
  ['o', { ...integers, problem: `octal ${integers.problem}` }],
  ['b', { kinds: ['int', 'uint', 'bool'], problem: 'only integers and bools can be formatted as binary' }],
  ['f', { ...reals, problem: `fixed-point ${reals.problem}` }],
  ['e', { ...reals, problem: `scientific ${reals.problem}` }],
  [
    'x',
    {
      kinds: ['int', 'uint', 'string', 'bytes'],
      problem: 'only integers, byte buffers, and strings can be formatted as hex',
    },
  ],
]);

/** Reports what a constant format and the types of its arguments cannot do together. */
function validateFormat(call: CallExpr, checked: Checked, issues: Issues): void {
  const { target, args } = call;
  const [list] = args;
  if (target?.kind !== 'literal' || typeof target.value !== 'string' || list?.kind !== 'list') return;
  let index = 0;
  for (const [whole, , verb = ''] of target.value.matchAll(/%(?:%|(?:\.(\d{0,3}))?([\s\S]?))/g)) {
    if (whole === '%%') continue;
    const arg = list.elements[index]?.value;
    if (arg === undefined) {
      issues.report(call.offset, `index ${index} out of range`);
      return;
    }
    index++;
    const clause = clauses.get(verb.toLowerCase());
    const { kind, name } = checked.typeOf(arg);
    if (clause === undefined || kind === 'dyn' || clause.kinds.includes(kind)) continue;
    issues.report(arg.offset, `error during formatting: ${clause.problem}, was given ${name}`);
    return;
  }
  if (list.elements.length > index) {
    const text = `too many arguments supplied to string.format (expected ${index}, got ${list.elements.length})`;
    issues.report(call.offset, text);
  }
}

/** Reports literals that a function can only fail on: `duration('x')`, `matches('(')`. */
export function validateLiterals(checked: Checked, issues: Issues): void {
  for (const expr of walk(checked.expr)) {
    if (expr.kind !== 'call') continue;
    if (expr.name === 'format') validateFormat(expr, checked, issues);
    const name = checked.calls.get(expr.id)?.name ?? '';
    const isValid = validators.get(name);
    const literal = expr.args.at(name === 'matches' ? -1 : 0);
    if (isValid === undefined || literal?.kind !== 'literal' || typeof literal.value !== 'string') continue;
    if (!isValid(literal.value)) issues.report(literal.offset, `invalid ${name} argument`);
  }
}
