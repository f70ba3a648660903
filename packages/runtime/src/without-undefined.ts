/** A copy in which an option that is set to undefined is not set, so that it overrides no default when it is spread. */
export function withoutUndefined<O extends object>(options: O): O {
  // What is left out is undefined in the original: every reader sees the same values.
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as O;
}
