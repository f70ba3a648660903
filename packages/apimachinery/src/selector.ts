/** Operators of a requirement in a `LabelSelector` object. */
export type LabelSelectorOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

/** One requirement of a {@link LabelSelector}. */
export interface LabelSelectorRequirement {
  key: string;
  operator: LabelSelectorOperator;
  values?: string[];
}

/** `metav1.LabelSelector`, as it stands in objects. An empty one matches everything. */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}

/** A parsed label selector. */
export interface Selector {
  readonly type: 'label';
  /** Whether the labels satisfy every requirement. */
  matches(labels: Readonly<Record<string, string>> | undefined): boolean;
  /** Whether it matches everything. */
  readonly isEmpty: boolean;
  /** The string that the API server accepts, with requirements sorted by key. */
  toString(): string;
}

/** One term of a field selector. */
export interface FieldTerm {
  readonly path: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** A parsed field selector. */
export interface FieldSelector {
  readonly type: 'field';
  readonly terms: readonly FieldTerm[];
  /** Whether the fields (path → value; a missing one counts as '') satisfy every term. */
  matches(fields: Readonly<Record<string, string>>): boolean;
  readonly isEmpty: boolean;
  /** The string that the API server accepts. */
  toString(): string;
}
