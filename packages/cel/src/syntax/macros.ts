import { accumulator, type Expr } from './ast.js';
import type { TreeBuilder } from './tree-builder.js';

/** A call as written, before it is known to be a macro. */
export interface MacroCall {
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
  /** Offset of the call's opening parenthesis, which is the position of all nodes of the expansion. */
  readonly offset: number;
}

/** Which macros the language version has. */
export interface MacroOptions {
  readonly optionals: boolean;
  readonly twoVariables: boolean;
  readonly sortBy: boolean;
}

/** An error of a macro's arguments, at an expression. */
export class MacroError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

type Fold = Omit<Extract<Expr, { kind: 'comprehension' }>, 'kind' | 'id' | 'offset'>;

function variable(expr: Expr, problem: string): string {
  if (expr.kind !== 'ident') throw new MacroError(problem, expr.offset);
  if (expr.name === accumulator || expr.name === '__result__') {
    throw new MacroError('iteration variable overwrites accumulator variable', expr.offset);
  }
  return expr.name;
}

/** Builds the folds of the macros over one range. */
class Folds {
  readonly #make: TreeBuilder;
  readonly #offset: number;
  readonly #base: Pick<Fold, 'range' | 'iterVar' | 'iterVar2' | 'accuVar'>;

  constructor(make: TreeBuilder, offset: number, base: Pick<Fold, 'range' | 'iterVar' | 'iterVar2' | 'accuVar'>) {
    this.#make = make;
    this.#offset = offset;
    this.#base = base;
  }

  #fold(parts: Omit<Fold, 'range' | 'iterVar' | 'iterVar2' | 'accuVar'>): Expr {
    return this.#make.comprehension(this.#offset, { ...this.#base, ...parts });
  }

  #accu(): Expr {
    return this.#make.accu(this.#offset);
  }

  #when(filter: Expr | undefined, step: Expr): Expr {
    return filter === undefined ? step : this.#make.call(this.#offset, '_?_:_', filter, step, this.#accu());
  }

  all(predicate: Expr): Expr {
    const { literal, call } = bind(this.#make, this.#offset);
    const accuInit = literal(true);
    const condition = call('@not_strictly_false', this.#accu());
    const step = call('_&&_', this.#accu(), predicate);
    return this.#fold({ accuInit, condition, step, result: this.#accu() });
  }

  exists(predicate: Expr): Expr {
    const { literal, call } = bind(this.#make, this.#offset);
    const accuInit = literal(false);
    const condition = call('@not_strictly_false', call('!_', this.#accu()));
    const step = call('_||_', this.#accu(), predicate);
    return this.#fold({ accuInit, condition, step, result: this.#accu() });
  }

  existsOne(predicate: Expr): Expr {
    const { literal, call } = bind(this.#make, this.#offset);
    const accuInit = literal(0n);
    const condition = literal(true);
    const step = call('_?_:_', predicate, call('_+_', this.#accu(), literal(1n)), this.#accu());
    const result = call('_==_', this.#accu(), literal(1n));
    return this.#fold({ accuInit, condition, step, result });
  }

  list(element: Expr, filter: Expr | undefined): Expr {
    const { literal, call } = bind(this.#make, this.#offset);
    const accuInit = this.#make.list(this.#offset);
    const condition = literal(true);
    const item = this.#make.list(this.#offset, [{ value: element, optional: false }]);
    const step = this.#when(filter, call('_+_', this.#accu(), item));
    return this.#fold({ accuInit, condition, step, result: this.#accu() });
  }

  map(insert: readonly Expr[], filter: Expr | undefined): Expr {
    const { literal, call } = bind(this.#make, this.#offset);
    const accuInit = this.#make.map(this.#offset);
    const condition = literal(true);
    const step = this.#when(filter, call('cel.@mapInsert', this.#accu(), ...insert));
    return this.#fold({ accuInit, condition, step, result: this.#accu() });
  }
}

function bind(make: TreeBuilder, offset: number) {
  return {
    literal: (value: boolean | bigint): Expr => make.literal(offset, value),
    call: (name: string, ...args: readonly Expr[]): Expr => make.call(offset, name, ...args),
  };
}

function has(make: TreeBuilder, call: MacroCall, argument: Expr): Expr {
  if (argument.kind === 'select' && !argument.testOnly) {
    return make.presence(call.offset, argument.operand, argument.field);
  }
  throw new MacroError('invalid argument to has() macro', argument.offset);
}

function optional(make: TreeBuilder, call: MacroCall, target: Expr): Expr {
  const [name, body] = call.args;
  if (name === undefined || body === undefined || name.kind !== 'ident') {
    const text = `${call.name}() variable name must be a simple identifier`;
    throw new MacroError(text, name?.offset ?? call.offset);
  }
  const { offset } = call;
  const mapped = make.comprehension(offset, {
    range: make.list(offset),
    iterVar: '#unused',
    iterVar2: undefined,
    accuVar: name.name,
    accuInit: make.member(offset, target, 'value'),
    condition: make.literal(offset, false),
    step: make.ident(offset, name.name),
    result: body,
  });
  const present = make.member(offset, target, 'hasValue');
  const value = call.name === 'optMap' ? make.call(offset, 'optional.of', mapped) : mapped;
  return make.call(offset, '_?_:_', present, value, make.call(offset, 'optional.none'));
}

const sortInput = '@__sortBy_input__';

/** `list.sortBy(e, key)`: the list, bound to a name, sorted by the list of its keys. */
function sortBy(make: TreeBuilder, call: MacroCall, target: Expr): Expr {
  const [element, key] = call.args;
  if (element === undefined || key === undefined) throw new MacroError('argument must be a simple name', call.offset);
  if (!['list', 'ident', 'comprehension', 'call', 'select'].includes(target.kind)) {
    const text = 'sortBy can only be applied to a list, identifier, comprehension, call or select expression';
    throw new MacroError(text, target.offset);
  }
  const { offset } = call;
  const input = make.ident(offset, sortInput);
  const iterVar = variable(element, 'argument is not an identifier');
  const keys = new Folds(make, offset, { range: input, iterVar, iterVar2: undefined, accuVar: accumulator });
  const sorted = make.member(offset, input, '@sortByAssociatedKeys', [keys.list(key, undefined)]);
  return make.comprehension(offset, {
    range: make.list(offset),
    iterVar: '#unused',
    iterVar2: undefined,
    accuVar: sortInput,
    accuInit: target,
    condition: make.literal(offset, false),
    step: make.ident(offset, sortInput),
    result: sorted,
  });
}

function oneVariable(make: TreeBuilder, call: MacroCall, range: Expr): Expr | undefined {
  const [first, second, third] = call.args;
  if (first === undefined || second === undefined) return undefined;
  const known = ['all', 'exists', 'exists_one', 'map', 'filter'];
  if (!known.includes(call.name) || (third !== undefined && call.name !== 'map')) return undefined;
  const problem =
    call.name === 'map' || call.name === 'filter' ? 'argument is not an identifier' : 'argument must be a simple name';
  const iterVar = variable(first, problem);
  const folds = new Folds(make, call.offset, { range, iterVar, iterVar2: undefined, accuVar: accumulator });
  switch (call.name) {
    case 'all':
      return folds.all(second);
    case 'exists':
      return folds.exists(second);
    case 'filter':
      return folds.list(first, second);
    case 'map':
      return third === undefined ? folds.list(second, undefined) : folds.list(third, second);
    default:
      return folds.existsOne(second);
  }
}

function twoVariables(make: TreeBuilder, call: MacroCall, range: Expr): Expr | undefined {
  const [first, second, third, fourth] = call.args;
  if (first === undefined || second === undefined || third === undefined) return undefined;
  const isQuantifier = ['all', 'exists', 'exists_one', 'existsOne'].includes(call.name);
  const isTransform = ['transformList', 'transformMap', 'transformMapEntry'].includes(call.name);
  if (!isTransform && (!isQuantifier || fourth !== undefined)) return undefined;
  const iterVar = variable(first, 'argument must be a simple name');
  const iterVar2 = variable(second, 'argument must be a simple name');
  if (iterVar === iterVar2) throw new MacroError(`duplicate variable name: ${iterVar}`, second.offset);
  const folds = new Folds(make, call.offset, { range, iterVar, iterVar2, accuVar: accumulator });
  const body = fourth ?? third;
  const filter = fourth === undefined ? undefined : third;
  switch (call.name) {
    case 'all':
      return folds.all(third);
    case 'exists':
      return folds.exists(third);
    case 'transformList':
      return folds.list(body, filter);
    case 'transformMap':
      return folds.map([make.ident(call.offset, iterVar), body], filter);
    case 'transformMapEntry':
      return folds.map([body], filter);
    default:
      return folds.existsOne(third);
  }
}

/** Returns the expansion of a call if it is a macro. Throws {@link MacroError} if it is one with wrong arguments. */
export function expandMacro(make: TreeBuilder, call: MacroCall, options: MacroOptions): Expr | undefined {
  const { name, target, args } = call;
  if (target === undefined) {
    const [argument] = args;
    return name === 'has' && argument !== undefined && args.length === 1 ? has(make, call, argument) : undefined;
  }
  if (options.optionals && args.length === 2 && (name === 'optMap' || name === 'optFlatMap')) {
    return optional(make, call, target);
  }
  if (args.length === 2 && name === 'sortBy' && options.sortBy) return sortBy(make, call, target);
  if (args.length === 2) return oneVariable(make, call, target);
  if (args.length === 3) {
    if (name === 'map') return oneVariable(make, call, target);
    return options.twoVariables ? twoVariables(make, call, target) : undefined;
  }
  return args.length === 4 && options.twoVariables ? twoVariables(make, call, target) : undefined;
}
