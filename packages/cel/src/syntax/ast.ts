/** A literal of the source. */
export type LiteralValue = null | boolean | bigint | number | string | Uint8Array | UintLiteral;

/** An unsigned literal such as `3u`. */
export interface UintLiteral {
  readonly uint: bigint;
}

interface Node {
  /** Unique in its tree; the key of what later passes find out about the node. */
  readonly id: number;
  /** Offset of the token that stands for the node, in UTF-16 units. */
  readonly offset: number;
}

export interface LiteralExpr extends Node {
  readonly kind: 'literal';
  readonly value: LiteralValue;
}

export interface IdentExpr extends Node {
  readonly kind: 'ident';
  readonly name: string;
}

export interface SelectExpr extends Node {
  readonly kind: 'select';
  readonly operand: Expr;
  readonly field: string;
  /** Whether this is the argument of `has()`. */
  readonly testOnly: boolean;
}

export interface CallExpr extends Node {
  readonly kind: 'call';
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

export interface ListExpr extends Node {
  readonly kind: 'list';
  readonly elements: readonly { readonly value: Expr; readonly optional: boolean }[];
}

export interface MapEntryExpr extends Node {
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

export interface MapExpr extends Node {
  readonly kind: 'map';
  readonly entries: readonly MapEntryExpr[];
}

export interface StructFieldExpr extends Node {
  readonly name: string;
  readonly value: Expr;
  readonly optional: boolean;
}

export interface StructExpr extends Node {
  readonly kind: 'struct';
  readonly typeName: string;
  readonly fields: readonly StructFieldExpr[];
}

/** A fold, to which every macro over a list or map expands. */
export interface ComprehensionExpr extends Node {
  readonly kind: 'comprehension';
  readonly range: Expr;
  readonly iterVar: string;
  readonly iterVar2: string | undefined;
  readonly accuVar: string;
  readonly accuInit: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

/** An expression, macros expanded, as cel-go's parser gives it. */
export type Expr =
  | LiteralExpr
  | IdentExpr
  | SelectExpr
  | CallExpr
  | ListExpr
  | MapExpr
  | StructExpr
  | ComprehensionExpr;

/** The name of the accumulator of a macro, which cannot be written in source. */
export const accumulator = '@result';
