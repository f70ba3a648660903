import type { Checked } from '../check/checker.js';
import type { DeclType } from '../schema/decl-type.js';
import {
  accumulator,
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  type ListExpr,
  type MapExpr,
} from '../syntax/ast.js';
import type { CelType } from '../types/type.js';
import { estimateCall, type CallEstimate, type SizedNode } from './estimate-call.js';
import { add, multiply, one, range, sum, union, unknown, unlimited, zero, type Range } from './range.js';
import { characters } from './sizes.js';

/** Minimum and maximum cost of an evaluation, in cel-go's units. */
export interface CostEstimate {
  readonly min: number;
  /** Infinity if unbounded. */
  readonly max: number;
}

/** The sizes of the entries of a list or map. */
interface Entries {
  readonly kind: 'list' | 'map';
  readonly key: Range;
  readonly value: Range;
}

interface Local {
  readonly path: readonly string[] | undefined;
  readonly size: Range | undefined;
  readonly entries: Entries | undefined;
}

function literalSize(expr: Expr): Range | undefined {
  switch (expr.kind) {
    case 'literal':
      if (typeof expr.value === 'string') return range(characters(expr.value));
      return range(expr.value instanceof Uint8Array ? expr.value.length : 1);
    case 'list':
      return range(expr.elements.length);
    case 'map':
      return range(expr.entries.length);
    default:
      return undefined;
  }
}

const scalars = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);

function isScalar(type: CelType): boolean {
  const [inner] = type.params;
  if (type.kind === 'opaque' && type.name === 'optional_type' && inner !== undefined) return isScalar(inner);
  return scalars.has(type.kind);
}

function uniteEntries(a: Entries | undefined, b: Entries | undefined): Entries | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { kind: a.kind, key: union(a.key, b.key), value: union(a.value, b.value) };
}

/** cel-go's cost checker with Kubernetes' sizes. */
class Coster {
  readonly #checked: Checked;
  readonly #decls: ReadonlyMap<string, DeclType>;
  readonly #root: DeclType | undefined;
  readonly #paths = new Map<number, readonly string[]>();
  readonly #sizes = new Map<number, Range>();
  readonly #entries = new Map<number, Entries>();
  readonly #locals = new Map<string, Local[]>();

  constructor(checked: Checked, decls: ReadonlyMap<string, DeclType>) {
    this.#checked = checked;
    this.#decls = decls;
    [this.#root] = decls.values();
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case 'literal':
        return zero;
      case 'ident':
        this.#setPath(
          expr,
          this.#local(expr.name)?.path ?? (this.#local(expr.name) === undefined ? [expr.name] : undefined),
        );
        return one;
      case 'select':
        return this.#select(expr, expr.operand, expr.field);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return add(sum(expr.fields.map(({ value }) => this.cost(value))), range(40));
      case 'comprehension':
        return this.#isBinding(expr) ? this.#binding(expr) : this.#comprehension(expr);
    }
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #setPath(expr: Expr, path: readonly string[] | undefined): void {
    if (path !== undefined) this.#paths.set(expr.id, path);
  }

  #pathOf(expr: Expr): readonly string[] | undefined {
    if (expr.kind === 'ident') {
      const local = this.#local(expr.name);
      if (local !== undefined) return local.path;
    }
    return this.#paths.get(expr.id);
  }

  #below(expr: Expr, step: string): readonly string[] {
    return [...(this.#pathOf(expr) ?? []), step];
  }

  #select(expr: Expr & { readonly kind: 'select' }, operand: Expr, field: string): Range {
    if (this.#checked.names.has(expr.id)) return one;
    const cost = this.cost(operand);
    if (expr.testOnly) return cost;
    this.#setPath(expr, this.#below(operand, field));
    const { kind } = this.#checked.typeOf(operand);
    return kind === 'map' || kind === 'struct' || kind === 'param' ? add(cost, one) : cost;
  }

  #node(expr: Expr): SizedNode {
    const path = this.#pathOf(expr);
    const usable = path?.[0] === accumulator ? undefined : path;
    return { expr, type: this.#checked.typeOf(expr), path: usable, size: this.#sizeOf(expr) };
  }

  #call(expr: CallExpr): Range {
    const resolved = this.#checked.calls.get(expr.id);
    const name = resolved?.name ?? expr.name;
    const [first] = expr.args;
    if (name === 'dyn' && first !== undefined) {
      const cost = this.cost(first);
      this.#copySizes(expr, first);
      return add(one, cost);
    }
    const costs = expr.args.map((arg) => this.cost(arg));
    const args = expr.args.map((arg) => this.#node(arg));
    const ids = expr.name === '_?._' ? ['select_optional_field'] : (resolved?.overloads.map(({ id }) => id) ?? []);
    if (ids.length === 0) return zero;
    const target = expr.target === undefined || resolved?.isNamespaced === true ? undefined : expr.target;
    const targetCost = target === undefined ? zero : this.cost(target);
    const targetNode = target === undefined ? undefined : this.#node(target);
    let cost: Range = { min: unlimited, max: 0 };
    let size: Range | undefined;
    for (const id of ids) {
      const estimate = this.#overload(expr, id, { name, target: targetNode, args, costs });
      cost = union(cost, estimate.cost);
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size);
      if (id === 'index_list' || id === 'index_map') size = this.#indexed(expr, id === 'index_list');
      size ??= this.#sizeOf(expr);
    }
    if (size !== undefined) this.#sizes.set(expr.id, size);
    return add(targetCost, cost);
  }

  #indexed(expr: CallExpr, isList: boolean): Range | undefined {
    const [operand] = expr.args;
    if (operand === undefined) return undefined;
    this.#setPath(expr, this.#below(operand, isList ? '@items' : '@values'));
    return this.#entriesOf(operand)?.value;
  }

  #overload(
    expr: CallExpr,
    overload: string,
    call: { name: string; target: SizedNode | undefined; args: readonly SizedNode[]; costs: readonly Range[] },
  ): CallEstimate {
    const { costs, args } = call;
    const [a = zero, b = zero, c = zero] = costs;
    switch (overload) {
      case 'logical_and':
      case 'logical_or':
        return { cost: { min: a.min, max: add(a, b).max } };
      case 'conditional': {
        const [, truthy, falsy] = args;
        if (truthy === undefined || falsy === undefined) return { cost: a };
        this.#setEntries(expr, uniteEntries(this.#entriesOf(truthy.expr), this.#entriesOf(falsy.expr)));
        return { cost: add(a, union(b, c)), size: union(truthy.size ?? unknown, falsy.size ?? unknown) };
      }
      default:
    }
    if (overload === 'add_string' || overload === 'add_bytes' || overload === 'add_list') {
      const [left, right] = expr.args;
      if (left !== undefined && right !== undefined) {
        this.#setEntries(expr, uniteEntries(this.#entriesOf(left), this.#entriesOf(right)));
      }
    }
    const estimate = estimateCall({
      name: call.name,
      overload,
      target: call.target,
      args,
      sizeOf: (node) => this.#nodeSize(node),
    });
    return { ...estimate, cost: add(estimate.cost, sum(costs)) };
  }

  #nodeSize(node: SizedNode): Range | undefined {
    return node.size ?? (node.path === undefined ? undefined : this.#sizeAt(node.path));
  }

  #list(expr: ListExpr): Range {
    let cost = zero;
    let item: Range = { min: expr.elements.length === 0 ? 0 : unlimited, max: 0 };
    for (const { value } of expr.elements) {
      cost = add(cost, this.cost(value));
      item = union(item, this.#sizeOf(value) ?? unknown);
    }
    this.#entries.set(expr.id, { kind: 'list', key: one, value: item });
    return add(cost, range(10));
  }

  #map(expr: MapExpr): Range {
    let cost = zero;
    const least = expr.entries.length === 0 ? 0 : unlimited;
    let keys: Range = { min: least, max: 0 };
    let values: Range = { min: least, max: 0 };
    for (const { key, value } of expr.entries) {
      cost = add(add(cost, this.cost(key)), this.cost(value));
      keys = union(keys, this.#sizeOf(key) ?? unknown);
      values = union(values, this.#sizeOf(value) ?? unknown);
    }
    this.#entries.set(expr.id, { kind: 'map', key: keys, value: values });
    return add(cost, range(30));
  }

  #isBinding(expr: ComprehensionExpr): boolean {
    const { range: over, condition, accuVar } = expr;
    const isEmpty = over.kind === 'list' && over.elements.length === 0;
    return isEmpty && condition.kind === 'literal' && condition.value === false && accuVar !== accumulator;
  }

  #binding(expr: ComprehensionExpr): Range {
    const cost = add(this.cost(expr.range), this.cost(expr.accuInit));
    this.#push(expr.accuVar, this.#bound(expr.accuInit));
    const total = add(cost, this.cost(expr.result));
    this.#pop(expr.accuVar);
    this.#copySizes(expr, expr.result);
    return total;
  }

  #bound(expr: Expr): Local {
    return { path: this.#pathOf(expr), size: this.#sizeOf(expr), entries: this.#entriesOf(expr) };
  }

  #push(name: string, local: Local): void {
    const stack = this.#locals.get(name);
    if (stack === undefined) this.#locals.set(name, [local]);
    else stack.push(local);
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop();
  }

  #iterated(over: Expr, part: 'key' | 'value' | 'single'): Local {
    const entries = this.#entriesOf(over);
    const isList = (entries?.kind ?? this.#checked.typeOf(over).kind) === 'list';
    if (part === 'key')
      return { path: this.#below(over, isList ? '@indices' : '@keys'), size: entries?.key, entries: undefined };
    if (part === 'value' || isList)
      return { path: this.#below(over, isList ? '@items' : '@values'), size: entries?.value, entries: undefined };
    return { path: this.#below(over, '@keys'), size: entries?.key, entries: undefined };
  }

  #comprehension(expr: ComprehensionExpr): Range {
    const { range: over, accuInit, accuVar, iterVar, iterVar2 } = expr;
    let cost = add(this.cost(over), this.cost(accuInit));
    this.#push(accuVar, this.#bound(accuInit));
    this.#push(iterVar, this.#iterated(over, iterVar2 === undefined ? 'single' : 'key'));
    if (iterVar2 !== undefined) this.#push(iterVar2, this.#iterated(over, 'value'));
    const loop = this.cost(expr.condition);
    const step = this.cost(expr.step);
    this.#pop(iterVar);
    if (iterVar2 !== undefined) this.#pop(iterVar2);
    cost = add(cost, this.cost(expr.result));
    this.#pop(accuVar);
    const count = this.#sizeOf(over) ?? unknown;
    cost = add(cost, multiply(count, add(step, loop)));
    if (accuInit.kind === 'literal') {
      const size = this.#sizeOf(accuInit);
      if (size !== undefined) this.#sizes.set(expr.id, size);
    } else if (accuInit.kind === 'list' || accuInit.kind === 'map') {
      this.#sizes.set(expr.id, count);
      this.#setEntries(expr, this.#entriesOf(expr.step));
    }
    return cost;
  }

  #copySizes(to: Expr, from: Expr): void {
    const size = this.#sizeOf(from);
    if (size !== undefined) this.#sizes.set(to.id, size);
    this.#setEntries(to, this.#entriesOf(from));
  }

  #setEntries(expr: Expr, entries: Entries | undefined): void {
    if (entries !== undefined) this.#entries.set(expr.id, entries);
  }

  #entriesOf(expr: Expr): Entries | undefined {
    return this.#entries.get(expr.id) ?? (expr.kind === 'ident' ? this.#local(expr.name)?.entries : undefined);
  }

  #sizeOf(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr.id) ?? literalSize(expr);
    if (known !== undefined) return known;
    const path = this.#pathOf(expr);
    const declared = path === undefined ? undefined : this.#sizeAt(path);
    if (declared !== undefined) {
      this.#sizes.set(expr.id, declared);
      return declared;
    }
    if (isScalar(this.#checked.typeOf(expr))) return one;
    return expr.kind === 'ident' ? this.#local(expr.name)?.size : undefined;
  }

  /** The size that the schema of the variable allows at a path. */
  #sizeAt(path: readonly string[]): Range | undefined {
    const [variable = '', ...steps] = path;
    // As upstream, which looks every path up from the schema's root, whatever it starts with.
    let decl = this.#decls.get(variable) ?? this.#root;
    for (const step of steps) {
      if (step === '@items' || step === '@values') decl = decl?.element;
      else if (step === '@keys') decl = decl?.key;
      else decl = decl?.fields?.get(step);
      if (decl === undefined) return undefined;
    }
    return decl === undefined ? undefined : { min: 0, max: decl.maxElements };
  }
}

/**
 * Estimates the cost of an expression as cel-go's checker does, from literals and from the sizes that schemas allow.
 */
export function estimateCost(checked: Checked, decls: ReadonlyMap<string, DeclType>): CostEstimate {
  const { min, max } = new Coster(checked, decls).cost(checked.expr);
  return { min, max: max >= unlimited ? Infinity : max };
}
