import { accumulator } from './ast.js';
import type { ComprehensionExpr, Expr, LiteralValue, MapEntryExpr, StructFieldExpr } from './ast.js';

/** Makes nodes at one place of the source, each with the next id. */
export class TreeBuilder {
  #next = 1;

  literal(offset: number, value: LiteralValue): Expr {
    return { kind: 'literal', id: this.#next++, offset, value };
  }

  ident(offset: number, name: string): Expr {
    return { kind: 'ident', id: this.#next++, offset, name };
  }

  accu(offset: number): Expr {
    return this.ident(offset, accumulator);
  }

  select(offset: number, operand: Expr, field: string): Expr {
    return { kind: 'select', id: this.#next++, offset, operand, field, testOnly: false };
  }

  presence(offset: number, operand: Expr, field: string): Expr {
    return { kind: 'select', id: this.#next++, offset, operand, field, testOnly: true };
  }

  call(offset: number, name: string, ...args: readonly Expr[]): Expr {
    return { kind: 'call', id: this.#next++, offset, name, target: undefined, args };
  }

  member(offset: number, target: Expr, name: string, args: readonly Expr[] = []): Expr {
    return { kind: 'call', id: this.#next++, offset, name, target, args };
  }

  list(offset: number, elements: readonly { readonly value: Expr; readonly optional: boolean }[] = []): Expr {
    return { kind: 'list', id: this.#next++, offset, elements };
  }

  map(offset: number, entries: readonly MapEntryExpr[] = []): Expr {
    return { kind: 'map', id: this.#next++, offset, entries };
  }

  mapEntry(offset: number, key: Expr, value: Expr, optional: boolean): MapEntryExpr {
    return { id: this.#next++, offset, key, value, optional };
  }

  struct(offset: number, typeName: string, fields: readonly StructFieldExpr[]): Expr {
    return { kind: 'struct', id: this.#next++, offset, typeName, fields };
  }

  structField(offset: number, name: string, value: Expr, optional: boolean): StructFieldExpr {
    return { id: this.#next++, offset, name, value, optional };
  }

  comprehension(offset: number, parts: Omit<ComprehensionExpr, 'kind' | 'id' | 'offset'>): Expr {
    return { kind: 'comprehension', id: this.#next++, offset, ...parts };
  }
}
