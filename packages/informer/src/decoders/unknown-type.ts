/** Says that a watch event is of no known type. A type that is not a plain word is not shown: it may be anything. */
export function unknownType({ type }: { readonly type: unknown }): string {
  const shown = typeof type === 'string' && /^[A-Za-z]{1,16}$/.test(type) ? `: ${JSON.stringify(type)}` : '';
  return `a watch event is of an unknown type${shown}`;
}
