import { RE2JS } from 're2js';
import { formatParts } from '../values/format-clauses.js';
import type { CallExpr, Expr } from '../syntax/ast.js';
import type { Issues } from '../syntax/issues.js';
import { typeName } from '../values/type-of.js';
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

interface ClauseTypes {
  readonly kinds: readonly string[];
  readonly problem: string;
}

const integers: ClauseTypes = { kinds: ['int', 'uint'], problem: 'clause can only be used on integers' };
const reals: ClauseTypes = { kinds: ['double', 'string'], problem: 'clause can only be used on doubles' };
const hex: ClauseTypes = {
  kinds: ['int', 'uint', 'string', 'bytes'],
  problem: 'only integers, byte buffers, and strings can be formatted as hex',
};
const texts: ClauseTypes = {
  kinds: [
    ...['list', 'map', 'int', 'uint', 'double', 'bool', 'string'],
    ...['timestamp', 'bytes', 'duration', 'type', 'null'],
  ],
  problem:
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
};
const clauses: ReadonlyMap<string, ClauseTypes> = new Map([
  ['s', texts],
  ['d', { ...integers, problem: `decimal ${integers.problem}` }],
  ['o', { ...integers, problem: `octal ${integers.problem}` }],
  ['b', { kinds: ['int', 'uint', 'bool'], problem: 'only integers and bools can be formatted as binary' }],
  ['f', { ...reals, problem: `fixed-point ${reals.problem}` }],
  ['e', { ...reals, problem: `scientific ${reals.problem}` }],
  ['x', hex],
  ['X', hex],
]);

/** The argument, or the item of a list or map in it, that a clause does not take. */
function misfit(arg: Expr, verb: string, checked: Checked): Expr | undefined {
  const { kind } = checked.typeOf(arg);
  if (kind !== 'dyn' && clauses.get(verb)?.kinds.includes(kind) === false) return arg;
  if (verb !== 's' || (arg.kind !== 'list' && arg.kind !== 'map')) return undefined;
  for (const item of childrenOf(arg)) {
    const found = misfit(item, verb, checked);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the conflict between a constant format and the types of its arguments, with its position. */
function formatProblem(call: CallExpr, checked: Checked): readonly [at: Expr, problem: string] | undefined {
  const { target, args } = call;
  const [list] = args;
  if (target?.kind !== 'literal' || typeof target.value !== 'string' || list?.kind !== 'list') return undefined;
  const { elements } = list;
  let index = 0;
  for (const part of formatParts(target.value)) {
    if (part.kind === 'text') continue;
    if (part.kind === 'end') return [call, 'unexpected end of string'];
    const arg = elements[index]?.value;
    if (arg === undefined) return [call, `index ${index} out of range`];
    if (part.kind === 'problem') return [call, `could not parse formatting clause: ${part.problem}`];
    index++;
    const at = misfit(arg, part.verb, checked);
    if (at === undefined) continue;
    const given = typeName(checked.typeOf(at));
    return [at, `error during formatting: ${clauses.get(part.verb)?.problem ?? ''}, was given ${given}`];
  }
  if (elements.length <= index) return undefined;
  return [call, `too many arguments supplied to string.format (expected ${index}, got ${elements.length})`];
}

/** Reports literals that a function can only fail on: `duration('x')`, `matches('(')`. */
export function validateLiterals(checked: Checked, issues: Issues): void {
  for (const expr of walk(checked.expr)) {
    if (expr.kind !== 'call') continue;
    if (expr.name === 'format') {
      const found = formatProblem(expr, checked);
      if (found !== undefined) issues.report(found[0].offset, found[1]);
    }
    const name = checked.calls.get(expr.id)?.name ?? '';
    const isValid = validators.get(name);
    const literal = expr.args.at(name === 'matches' ? -1 : 0);
    if (isValid === undefined || literal?.kind !== 'literal' || typeof literal.value !== 'string') continue;
    if (!isValid(literal.value)) issues.report(literal.offset, `invalid ${name} argument`);
  }
}
