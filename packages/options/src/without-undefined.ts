type Loose<T> = { readonly [P in keyof T]: T[P] | undefined };

/**
 * Returns a copy without the fields that are undefined, so that one that is set to undefined overrides no default when
 * the copy is spread.
 */
export function withoutUndefined<T extends object>(fields: T | Loose<T>): T {
  // A property that is left out is undefined in the original, so every reader sees the same values.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
