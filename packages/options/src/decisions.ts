/**
 * What a layer does with an option of a contract: hands it to the layer below (`sent`), answers it itself, which includes
 * that it is always so (`answered`), or refuses it with the reason.
 */
export type Decision = 'sent' | 'answered' | { readonly refused: string };

/**
 * The decisions of a layer about all options of a contract. An option that is added to the contract does not compile in
 * the layers that have not decided about it, instead of being dropped on its way.
 */
export type Decisions<O extends object> = { readonly [N in keyof Required<O>]: Decision };

/** The options that a table sends; none is set to undefined. */
export type SentOptions<O extends object, T extends Decisions<O>> = Defined<
  Pick<O, { [N in keyof O]-?: T[N] extends 'sent' ? N : never }[keyof O]>
>;

type Defined<O> = { readonly [N in keyof O]: Exclude<O[N], undefined> };

/** The options that a table answers: what the code that answers them may read. */
export type AnsweredOptions<O extends object, T extends Decisions<O>> = Pick<
  O,
  { [N in keyof O]-?: T[N] extends 'answered' ? N : never }[keyof O]
>;

/**
 * Types the table of a layer, complete and without names that the contract does not have.
 *
 * @example
 * ```ts
 * import { decides, sentOptions } from '@kctl/options';
 *
 * interface ReadOptions {
 *   readonly limit?: number;
 *   readonly live?: boolean;
 * }
 * const toServer = decides<ReadOptions>()({ limit: 'sent', live: 'answered' });
 * const request = (options: ReadOptions): { readonly limit?: number } => sentOptions(toServer, options);
 * ```
 */
export function decides<O extends object>(): <const T extends Decisions<O>>(
  table: T & { readonly [N in Exclude<keyof T, keyof O>]: never },
) => T {
  return (table) => table;
}

/** Returns the given options that a table sends. An option that is undefined is not given. */
export function sentOptions<O extends object, T extends Decisions<O>>(table: T, options: O): SentOptions<O, T>;
export function sentOptions(table: object, options: object): object {
  const sent: Record<string, unknown> = {};
  for (const name of Object.keys(options)) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined && Object.hasOwn(table, name) && Reflect.get(table, name) === 'sent') sent[name] = value;
  }
  return sent;
}

/** A given option that is refused, with the reason. */
export interface RefusedOption {
  readonly name: string;
  readonly reason: string;
}

/** Returns the first given option that a table refuses. An option that is undefined or an empty string is not given. */
export function refusedOption(table: Readonly<Record<string, Decision>>, options: object): RefusedOption | undefined {
  // Cached lists come here, so the usual case is a look at the few options that are given.
  for (const name of Object.keys(options)) {
    const decision = Object.hasOwn(table, name) ? table[name] : undefined;
    if (typeof decision !== 'object') continue;
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined && value !== '') return { name, reason: decision.refused };
  }
  return undefined;
}
