import { fieldSelectorFrom, labelSelectorFrom } from '@kctl/apimachinery';
import type {
  DeleteAllOfOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  WatchOptions,
} from '@kctl/client';
import { shownType } from '@kctl/options';

/** A value of a query parameter; those that are empty or false are left out. */
export type QueryValue = string | boolean;

/**
 * Form of an option in a request. It is a field as it is (`sent`), a field of this value or under another name, or no
 * field, because the client, the path or the other part of the request has it (`answered`).
 */
type Part<V> = 'sent' | 'answered' | ((value: V) => unknown) | { readonly as: string };

/** Fields of a query or a body, complete by type. An option of the contract that is in no table does not compile. */
type Parts<O extends object> = { readonly [N in keyof Required<O>]: Part<NonNullable<O[N]>> };

/** A client without a cache reads the most recent state with each read. */
const getParts: Parts<GetOptions> = {
  resourceVersion: 'sent',
  live: 'answered',
  readYourWrites: 'answered',
  signal: 'answered',
};

const listParts: Parts<ListOptions> = {
  labelSelector: labelText,
  fieldSelector: fieldText,
  // Without a bound is without the parameter.
  limit: (limit) => (limit === Infinity ? undefined : limit),
  continue: 'sent',
  resourceVersion: 'sent',
  resourceVersionMatch: 'sent',
  timeoutSeconds: 'sent',
  namespace: 'answered',
  live: 'answered',
  readYourWrites: 'answered',
  signal: 'answered',
};

const watchParts: Parts<WatchOptions> = {
  labelSelector: labelText,
  fieldSelector: fieldText,
  allowWatchBookmarks: 'sent',
  resourceVersion: 'sent',
  resourceVersionMatch: 'sent',
  // False is not the same as nothing.
  sendInitialEvents: String,
  timeoutSeconds: 'sent',
  namespace: 'answered',
  signal: 'answered',
};

/** The options of a patch are those of every write, and `force`. */
const writeParts: Parts<PatchOptions> = {
  dryRun: (dryRun) => (dryRun ? 'All' : undefined),
  fieldOwner: { as: 'fieldManager' },
  fieldValidation: 'sent',
  force: 'sent',
  signal: 'answered',
};

const deleteBodyParts: Parts<DeleteOptions> = {
  gracePeriodSeconds: 'sent',
  preconditions: 'sent',
  propagationPolicy: 'sent',
  ignoreStoreReadErrorWithClusterBreakingPotential: (isIgnored) => isIgnored || undefined,
  dryRun: (dryRun) => (dryRun ? ['All'] : undefined),
  signal: 'answered',
};

/** The options of a collection that those of one object do not have; the others are in the body. */
const deleteQueryParts: Parts<Omit<DeleteAllOfOptions, keyof DeleteOptions>> = {
  labelSelector: labelText,
  fieldSelector: fieldText,
  namespace: 'answered',
};

/** The names of the query parameters and fields that each verb may send. */
export const sentNames: Readonly<
  Record<'get' | 'list' | 'watch' | 'write' | 'deleteQuery' | 'deleteBody', readonly string[]>
> = {
  get: namesOf(getParts),
  list: namesOf(listParts),
  watch: ['watch', ...namesOf(watchParts)],
  write: namesOf(writeParts),
  deleteQuery: namesOf(deleteQueryParts),
  deleteBody: namesOf(deleteBodyParts),
};

export function getQuery(options: GetOptions): Record<string, QueryValue> {
  return queryOf(getParts, options);
}

export function listQuery(options: ListOptions): Record<string, QueryValue> {
  return queryOf(listParts, options);
}

export function watchQuery(options: WatchOptions): Record<string, QueryValue> {
  return { watch: true, ...queryOf(watchParts, options) };
}

/** The query of a create, update or patch. */
export function writeQuery(options: PatchOptions): Record<string, QueryValue> {
  return queryOf(writeParts, options);
}

export function deleteAllOfQuery(options: DeleteAllOfOptions): Record<string, QueryValue> {
  return queryOf(deleteQueryParts, options);
}

/** The fields of the DeleteOptions in the body of a request; undefined if none is set. */
export function deleteFields(options: DeleteOptions): Record<string, unknown> | undefined {
  const fields = partsOf(deleteBodyParts, options);
  return Object.keys(fields).length === 0 ? undefined : fields;
}

type PartTable = Readonly<Record<string, Part<never>>>;

/** The entries of each table, which are read for each request. */
const entries = new WeakMap<PartTable, readonly (readonly [string, Part<never>])[]>();

function entriesOf(table: PartTable): readonly (readonly [string, Part<never>])[] {
  let known = entries.get(table);
  if (known === undefined) entries.set(table, (known = Object.entries(table)));
  return known;
}

function queryOf(table: PartTable, options: object): Record<string, QueryValue> {
  const query: Record<string, QueryValue> = {};
  for (const [name, value] of Object.entries(partsOf(table, options)))
    query[name] = typeof value === 'boolean' ? value : String(value);
  return query;
}

/** In the order of the table. */
function partsOf(table: PartTable, options: object): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, part] of entriesOf(table)) {
    if (part === 'answered') continue;
    const given: unknown = Reflect.get(options, name);
    if (given === undefined) continue;
    const value: unknown = typeof part === 'function' ? Reflect.apply(part, undefined, [given]) : given;
    if (value !== undefined) fields[typeof part === 'object' ? part.as : name] = value;
  }
  return fields;
}

function namesOf(table: PartTable): string[] {
  return Object.entries(table).flatMap(([name, part]) =>
    part === 'answered' ? [] : [typeof part === 'object' ? part.as : name],
  );
}

/** A string is sent as it is and checked by the server. Everything else is checked here. */
function labelText(selector: NonNullable<ListOptions['labelSelector']>): string {
  return typeof selector === 'string' ? selector : writtenText('labelSelector', labelSelectorFrom(selector));
}

function fieldText(selector: NonNullable<ListOptions['fieldSelector']>): string {
  return typeof selector === 'string' ? selector : writtenText('fieldSelector', fieldSelectorFrom(selector));
}

/** @throws TypeError if a foreign selector has no string form, because the request would select everything */
function writtenText(option: string, selector: { toString(): string }): string {
  const text: unknown = selector.toString();
  if (typeof text === 'string') return text;
  throw new TypeError(
    `${option}: toString of the selector returned ${shownType(text)}: expected a string such as "a=b"`,
  );
}
