/** An empty string in a kubeconfig means the same as none. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

type Loose<T> = { readonly [P in keyof T]: T[P] | undefined };

/** The fields that are set. */
export function withoutUndefined<T>(fields: Loose<T>): T {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as T;
}
