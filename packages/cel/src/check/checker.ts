import type {
  CallExpr,
  ComprehensionExpr,
  Expr,
  ListExpr,
  LiteralValue,
  MapExpr,
  SelectExpr,
  StructExpr,
} from '../syntax/ast.js';
import type { Issues } from '../syntax/issues.js';
import {
  boolType,
  bytesType,
  doubleType,
  dynType,
  errorType,
  formatType,
  intType,
  listType,
  mapType,
  nullType,
  optionalType,
  paramType,
  sameType,
  stringType,
  uintType,
  unwrapOptional,
  type CelType,
} from '../types/type.js';
import { mostGeneral, substitute, Unifier } from '../types/unify.js';
import type { Overload } from './functions.js';
import type { CheckScope, Declaration } from './scope.js';

/** Result of checking an expression. */
export interface Checked {
  readonly expr: Expr;
  /** Whether types fit, except for mixed lists and maps. If so, the content of literals is checked, too. */
  readonly isTyped: boolean;
  readonly typeOf: (expr: Expr) => CelType;
  /** The overloads that a call may resolve to, and whether its target is but the namespace of the function. */
  readonly calls: ReadonlyMap<number, ResolvedCall>;
  /** Names, plain or qualified, that stand for declarations. */
  readonly names: ReadonlyMap<number, Declaration>;
}

export interface ResolvedCall {
  /** The function's full name. */
  readonly name: string;
  readonly overloads: readonly Overload[];
  readonly isNamespaced: boolean;
}

function literalType(value: LiteralValue): CelType {
  switch (typeof value) {
    case 'boolean':
      return boolType;
    case 'bigint':
      return intType;
    case 'number':
      return doubleType;
    case 'string':
      return stringType;
    default:
      if (value === null) return nullType;
      return value instanceof Uint8Array ? bytesType : uintType;
  }
}

/** The dotted name that an expression spells, if it is one. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind !== 'select' || expr.testOnly) return undefined;
  const prefix = qualifiedName(expr.operand);
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`;
}

function isDynOrError(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'error';
}

class Checker {
  readonly #scope: CheckScope;
  readonly #issues: Issues;
  readonly #unifier = new Unifier();
  readonly #types = new Map<number, CelType>();
  readonly #calls = new Map<number, ResolvedCall>();
  readonly #names = new Map<number, Declaration>();
  readonly #locals = new Map<string, CelType[]>();
  #freeTypes = 0;
  /** Lists and maps whose elements must have one type, which is checked if there is no other error. */
  readonly #aggregates: (ListExpr | MapExpr)[] = [];
  /** How many calls of `format` the check is in. */
  #formatDepth = 0;

  constructor(scope: CheckScope, issues: Issues) {
    this.#scope = scope;
    this.#issues = issues;
  }

  whole(expr: Expr): Checked {
    this.#check(expr);
    const isTyped = this.#issues.count === 0;
    if (isTyped) for (const aggregate of this.#aggregates) this.#requireOneType(aggregate);
    return {
      expr,
      isTyped,
      typeOf: (each) => substitute(this.#unifier.bindings, this.#typeOf(each), true),
      calls: this.#calls,
      names: this.#names,
    };
  }

  #typeOf(expr: Expr): CelType {
    return this.#types.get(expr.id) ?? errorType;
  }

  #isAssignable(a: CelType, b: CelType): boolean {
    return this.#unifier.assign([a], [b]);
  }

  #newType(): CelType {
    return paramType(`_var${this.#freeTypes++}`);
  }

  #substitute(type: CelType): CelType {
    return substitute(this.#unifier.bindings, type, false);
  }

  #check(expr: Expr): CelType {
    const type = this.#infer(expr);
    this.#types.set(expr.id, type);
    return type;
  }

  #infer(expr: Expr): CelType {
    switch (expr.kind) {
      case 'literal':
        return literalType(expr.value);
      case 'ident':
        return this.#name(expr, expr.name) ?? this.#undeclared(expr, expr.name);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return this.#struct(expr);
      case 'comprehension':
        return this.#comprehension(expr);
    }
  }

  #undeclared(expr: Expr, name: string): CelType {
    this.#issues.report(expr.offset, `undeclared reference to '${name}' (in container '')`);
    return errorType;
  }

  #mismatch(expr: Expr, expected: CelType, found: CelType): CelType {
    const format = (type: CelType): string => formatType(this.#substitute(type));
    this.#issues.report(expr.offset, `expected type '${format(expected)}' but found '${format(found)}'`);
    return errorType;
  }

  /**
   * Elements must have the type of the first, not one assignable to it; `dyn` is a separate type. As upstream's
   * validator.
   */
  #requireOneType(aggregate: ListExpr | MapExpr): void {
    if (aggregate.kind === 'list') {
      const [first, ...others] = aggregate.elements;
      if (first === undefined) return;
      const wanted = this.#finished(first.value, first.optional);
      for (const { value, optional } of others) if (!this.#isOfType(value, wanted, optional)) return;
      return;
    }
    const [first, ...others] = aggregate.entries;
    if (first === undefined) return;
    const [key, value] = [this.#finished(first.key, false), this.#finished(first.value, first.optional)];
    for (const entry of others) {
      this.#isOfType(entry.key, key, false);
      this.#isOfType(entry.value, value, entry.optional);
    }
  }

  /** The finished type, with `dyn` for type parameters that are still free. */
  #finished(expr: Expr, isOptional: boolean): CelType {
    const type = substitute(this.#unifier.bindings, this.#typeOf(expr), true);
    return isOptional ? unwrapOptional(type).type : type;
  }

  #isOfType(expr: Expr, wanted: CelType, isOptional: boolean): boolean {
    const found = this.#finished(expr, isOptional);
    if (sameType(found, wanted)) return true;
    this.#issues.report(expr.offset, `expected type '${formatType(wanted)}' but found '${formatType(found)}'`);
    return false;
  }

  #name(expr: Expr, written: string): CelType | undefined {
    const isRooted = written.startsWith('.');
    const local = isRooted ? undefined : this.#locals.get(written)?.at(-1);
    if (local !== undefined) return local;
    const declaration = this.#scope.declarations.get(isRooted ? written.slice(1) : written);
    if (declaration === undefined) return undefined;
    this.#names.set(expr.id, declaration);
    return declaration.type;
  }

  #select(expr: SelectExpr): CelType {
    const written = qualifiedName(expr);
    if (written !== undefined) {
      const first = written.split('.', 1)[0] ?? '';
      const named = this.#locals.get(first)?.length ? undefined : this.#name(expr, written);
      if (named !== undefined) return named;
    }
    const type = this.#field(expr, expr.operand, expr.field, false);
    return expr.testOnly ? boolType : this.#substitute(type);
  }

  #field(expr: Expr, operand: Expr, field: string, isOptional: boolean): CelType {
    const target = unwrapOptional(this.#substitute(this.#check(operand)));
    const result = this.#fieldType(expr, target.type, field);
    return target.isOptional || isOptional ? optionalType(result) : result;
  }

  #fieldType(expr: Expr, target: CelType, field: string): CelType {
    switch (target.kind) {
      case 'map':
        return target.params[1] ?? dynType;
      case 'struct': {
        const type = this.#scope.types.fieldType(target.name, field);
        if (type !== undefined) return type;
        if (this.#scope.types.isStruct(target.name)) this.#issues.report(expr.offset, `undefined field '${field}'`);
        else this.#issues.report(expr.offset, `unexpected failed resolution of '${target.name}'`);
        return errorType;
      }
      case 'param':
        this.#isAssignable(dynType, target);
        return dynType;
      default:
        if (!isDynOrError(target)) {
          this.#issues.report(expr.offset, `type '${formatType(target)}' does not support field selection`);
        }
        return dynType;
    }
  }

  #call(expr: CallExpr): CelType {
    if (expr.name === '_?._') return this.#optionalSelect(expr);
    const { target } = expr;
    const isFormat = expr.name === 'format' && target !== undefined;
    if (isFormat) this.#formatDepth++;
    for (const arg of expr.args) this.#check(arg);
    if (isFormat) this.#formatDepth--;
    if (target === undefined) return this.#resolve(expr, expr.name.replace(/^\./, ''), false);
    const prefix = qualifiedName(target);
    if (prefix !== undefined) {
      const full = `${prefix}.${expr.name}`;
      if (this.#scope.functions.has(full)) return this.#resolve(expr, full, true);
    }
    this.#check(target);
    return this.#resolve(expr, expr.name, false);
  }

  #optionalSelect(expr: CallExpr): CelType {
    const [operand, field] = expr.args;
    if (operand === undefined || field?.kind !== 'literal' || typeof field.value !== 'string') {
      this.#issues.report(expr.offset, 'unsupported optional field selection');
      return errorType;
    }
    this.#types.set(field.id, stringType);
    return this.#substitute(this.#field(expr, operand, field.value, true));
  }

  #resolve(expr: CallExpr, name: string, isNamespaced: boolean): CelType {
    const all = this.#scope.functions.get(name);
    if (all === undefined) return this.#undeclared(expr, name);
    const isMember = expr.target !== undefined && !isNamespaced;
    const args = isMember && expr.target !== undefined ? [expr.target, ...expr.args] : expr.args;
    if (name === '_&&_' || name === '_||_') return this.#junction(expr, name, all);
    const types = args.map((arg) => this.#typeOf(arg));
    const overloads: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of all) {
      if (overload.isMember !== isMember) continue;
      const fresh = this.#instantiate(overload);
      if (!this.#unifier.assign(types, fresh.params)) continue;
      overloads.push(overload);
      const type = this.#substitute(fresh.result);
      if (result === undefined) result = type;
      else if (result.kind !== 'dyn' && !sameType(type, result)) result = dynType;
    }
    this.#calls.set(expr.id, { name, overloads, isNamespaced });
    if (result !== undefined) return result;
    const shown = types.map((type) => formatType(substitute(this.#unifier.bindings, type, true)));
    const signature = isMember ? `${shown[0] ?? ''}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
    this.#issues.report(expr.offset, `found no matching overload for '${name}' applied to '${signature}'`);
    return errorType;
  }

  #junction(expr: CallExpr, name: string, overloads: readonly Overload[]): CelType {
    let result = boolType;
    for (const arg of expr.args) {
      const type = this.#typeOf(arg);
      if (!this.#isAssignable(type, boolType)) result = this.#mismatch(arg, boolType, type);
    }
    this.#calls.set(expr.id, { name, overloads, isNamespaced: false });
    return result;
  }

  #instantiate(overload: Overload): { params: readonly CelType[]; result: CelType } {
    const fresh = new Map<string, CelType>();
    const replace = (type: CelType): CelType => {
      if (type.kind === 'param') {
        const known = fresh.get(type.name) ?? this.#newType();
        fresh.set(type.name, known);
        return known;
      }
      return type.params.length === 0 ? type : { ...type, params: type.params.map(replace) };
    };
    return { params: overload.params.map(replace), result: replace(overload.result) };
  }

  #join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current;
    return this.#isAssignable(previous, current) ? mostGeneral(previous, current) : dynType;
  }

  /** The type inside of `?x`, which must be an optional. */
  #inside(expr: Expr, type: CelType, isOptional: boolean): CelType {
    if (!isOptional) return type;
    const inner = unwrapOptional(this.#substitute(type));
    if (!inner.isOptional && inner.type.kind !== 'dyn') this.#mismatch(expr, optionalType(type), type);
    return inner.type;
  }

  /** Mixed lists are refused everywhere but as arguments of format. */
  #noteAggregate(expr: ListExpr | MapExpr): void {
    if (this.#formatDepth === 0) this.#aggregates.push(expr);
  }

  #list(expr: ListExpr): CelType {
    this.#noteAggregate(expr);
    let element: CelType | undefined;
    for (const { value, optional } of expr.elements) {
      element = this.#join(element, this.#inside(value, this.#check(value), optional));
    }
    return listType(element ?? this.#newType());
  }

  #map(expr: MapExpr): CelType {
    this.#noteAggregate(expr);
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of expr.entries) {
      key = this.#join(key, this.#check(entry.key));
      value = this.#join(value, this.#inside(entry.value, this.#check(entry.value), entry.optional));
    }
    return mapType(key ?? this.#newType(), value ?? this.#newType());
  }

  #struct(expr: StructExpr): CelType {
    const name = expr.typeName.replace(/^\./, '');
    const declared = this.#scope.declarations.get(name)?.type;
    const [made] = declared?.params ?? [];
    let type: CelType = errorType;
    if (declared === undefined && !this.#scope.types.isStruct(name)) this.#undeclared(expr, name);
    else if (declared !== undefined && declared.kind !== 'type')
      this.#issues.report(expr.offset, `'${formatType(declared)}' is not a type`);
    else if (made !== undefined && made.kind !== 'struct')
      this.#issues.report(expr.offset, `'${made.name}' is not a message type`);
    else type = { kind: 'struct', name, params: [] };
    for (const field of expr.fields) {
      const found = this.#inside(field.value, this.#check(field.value), field.optional);
      if (type.kind === 'error') continue;
      const expected = this.#scope.types.fieldType(name, field.name);
      if (expected === undefined) {
        this.#issues.report(field.offset, `undefined field '${field.name}'`);
      } else if (!this.#isAssignable(expected, found)) {
        const text = `expected type of field '${field.name}' is '${formatType(expected)}' but provided type is '${formatType(this.#substitute(found))}'`;
        this.#issues.report(field.offset, text);
      }
    }
    return type;
  }

  #comprehension(expr: ComprehensionExpr): CelType {
    const range = this.#substitute(this.#check(expr.range));
    const accu = this.#check(expr.accuInit);
    const [first, second] = this.#iterated(expr, range);
    this.#with([[expr.accuVar, accu]], () => {
      const variables: [string, CelType][] = [[expr.iterVar, first]];
      if (expr.iterVar2 !== undefined) variables.push([expr.iterVar2, second]);
      this.#with(variables, () => {
        this.#assert(expr.condition, boolType);
        this.#assert(expr.step, accu);
      });
      this.#check(expr.result);
    });
    return this.#substitute(this.#typeOf(expr.result));
  }

  #assert(expr: Expr, expected: CelType): void {
    const type = this.#check(expr);
    if (!this.#isAssignable(expected, type)) this.#mismatch(expr, expected, type);
  }

  #with(variables: readonly (readonly [string, CelType])[], run: () => void): void {
    for (const [name, type] of variables) {
      const stack = this.#locals.get(name);
      if (stack === undefined) this.#locals.set(name, [type]);
      else stack.push(type);
    }
    run();
    for (const [name] of variables) this.#locals.get(name)?.pop();
  }

  /** The types of the first and second variable of a fold over the range. */
  #iterated(expr: ComprehensionExpr, range: CelType): [CelType, CelType] {
    const isPair = expr.iterVar2 !== undefined;
    const [first = dynType, second = dynType] = range.params;
    switch (range.kind) {
      case 'list':
        return isPair ? [intType, first] : [first, first];
      case 'map':
        return [first, second];
      case 'dyn':
      case 'error':
      case 'param':
        this.#isAssignable(dynType, range);
        return [dynType, dynType];
      default: {
        const text = `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
        this.#issues.report(expr.range.offset, text);
        return [errorType, errorType];
      }
    }
  }
}

/** Checks an expression's types. With `issues.count > 0` afterwards it must not be run. */
export function check(expr: Expr, scope: CheckScope, issues: Issues): Checked {
  return new Checker(scope, issues).whole(expr);
}
