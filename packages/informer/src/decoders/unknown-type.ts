/**
 * Returns the error message for a watch event of an unknown type. A type that is not a plain word is not shown, because
 * it may be any value.
 */
export function unknownType({ type }: { readonly type: unknown }): string {
  const shown = typeof type === 'string' && /^[A-Za-z]{1,16}$/.test(type) ? `: ${JSON.stringify(type)}` : '';
  return `a watch event is of an unknown type${shown}`;
}
