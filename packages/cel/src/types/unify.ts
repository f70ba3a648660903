import { dynType, errorType, sameType, type CelType, type TypeKind } from './type.js';

/** Types bound to type parameters so far. */
export type Bindings = ReadonlyMap<string, CelType>;

const nullable: ReadonlySet<TypeKind> = new Set(['opaque', 'struct', 'duration', 'timestamp', 'null']);

function isDyn(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'error';
}

/** Whether `a` matches `b` by being the same or less specific (`dyn`, a parameter). */
export function isLessSpecific(a: CelType, b: CelType): boolean {
  if (a.kind === 'dyn' || a.kind === 'param') return true;
  if (b.kind === 'dyn' || b.kind === 'param' || a.kind !== b.kind) return false;
  if (a.kind === 'type') return true;
  if (a.params.length === 0) return sameType(a, b);
  if (a.name !== b.name || a.params.length !== b.params.length) return false;
  return a.params.every((param, index) => isLessSpecific(param, b.params[index] ?? errorType));
}

export function mostGeneral(a: CelType, b: CelType): CelType {
  return isLessSpecific(a, b) ? a : b;
}

/** Makes types agree by binding their parameters. An attempt that fails leaves no bindings behind. */
export class Unifier {
  readonly #bindings = new Map<string, CelType>();
  #undo: [name: string, before: CelType | undefined][] = [];

  get bindings(): Bindings {
    return this.#bindings;
  }

  /** Whether each of `a` is assignable to its counterpart in `b`; binds parameters when they are. */
  assign(a: readonly CelType[], b: readonly CelType[]): boolean {
    this.#undo = [];
    if (this.#areAssignable(a, b)) return true;
    for (const [name, before] of this.#undo.reverse()) {
      if (before === undefined) this.#bindings.delete(name);
      else this.#bindings.set(name, before);
    }
    return false;
  }

  #set(name: string, type: CelType): void {
    this.#undo.push([name, this.#bindings.get(name)]);
    this.#bindings.set(name, type);
  }

  #isAssignable(a: CelType, b: CelType): boolean {
    if (b.kind === 'param') {
      const { valid, bound } = this.#substitutes(a, b);
      if (valid) return true;
      if (bound) return false;
    }
    if (a.kind === 'param') return this.#substitutes(b, a).valid;
    if (isDyn(a) || isDyn(b)) return true;
    if (a.kind === 'null') return nullable.has(b.kind);
    if (b.kind === 'null') return nullable.has(a.kind);
    if (a.kind !== b.kind) return false;
    if (a.kind === 'type') return true;
    return a.name === b.name && this.#areAssignable(a.params, b.params);
  }

  #areAssignable(a: readonly CelType[], b: readonly CelType[]): boolean {
    return a.length === b.length && a.every((type, index) => this.#isAssignable(type, b[index] ?? errorType));
  }

  #substitutes(type: CelType, param: CelType): { valid: boolean; bound: boolean } {
    if (sameType(type, param)) return { valid: true, bound: true };
    const known = this.#bindings.get(param.name);
    if (known !== undefined) {
      if (sameType(type, known)) return { valid: true, bound: true };
      if (!this.#isAssignable(type, known)) return { valid: false, bound: true };
      const general = mostGeneral(type, known);
      if (!this.#occurs(param, general)) this.#set(param.name, general);
      return { valid: true, bound: true };
    }
    if (this.#occurs(param, type)) return { valid: false, bound: false };
    this.#set(param.name, type);
    return { valid: true, bound: false };
  }

  #occurs(param: CelType, within: CelType): boolean {
    if (sameType(param, within)) return true;
    if (within.kind === 'param') {
      const bound = this.#bindings.get(within.name);
      return bound !== undefined && this.#occurs(param, bound);
    }
    return within.params.some((each) => this.#occurs(param, each));
  }
}

/** The type with bound parameters replaced; with `toDyn`, free parameters become `dyn`. */
export function substitute(bindings: Bindings, type: CelType, toDyn: boolean): CelType {
  if (type.kind === 'param') {
    const bound = bindings.get(type.name);
    if (bound !== undefined) return substitute(bindings, bound, toDyn);
    return toDyn ? dynType : type;
  }
  if (type.params.length === 0) return type;
  return { ...type, params: type.params.map((param) => substitute(bindings, param, toDyn)) };
}
