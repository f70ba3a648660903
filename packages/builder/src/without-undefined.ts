/** The fields that are set: one that is undefined must not hide what is inherited. */
export function withoutUndefined<T extends object>(fields: T | undefined): T {
  return Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== undefined)) as T;
}
