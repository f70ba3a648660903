/** Random options of calls, good and bad ones: as parameters, and as bodies of deletions. */
import { APPLY_PATCH, MERGE_PATCH } from '../harness/context.js';
import type { Random } from './random.js';

/** A query as it is sent: names may be there more than once, or without a value. */
export type RawQuery = readonly (readonly [name: string, value: string | undefined])[];

export function rawQuery(query: RawQuery): string {
  return query.map(([name, value]) => (value === undefined ? name : `${name}=${encodeURIComponent(value)}`)).join('&');
}

type Values = readonly (string | undefined)[];

const integers: Values = ['', undefined, '0', '1', '-1', '1.5', '1e2', '0x10', '1_0', '+1', ' 1', 'x', '٣'];
const largeIntegers: Values = ['9223372036854775807', '9223372036854775808', '-9223372036854775809', '1'.repeat(40)];
const booleans: Values = ['', undefined, 'true', 'false', '0', '1', 'T', 'FALSE', 'yes', 'x', ' true'];
const dryRuns: Values = ['All', '', undefined, 'all', 'Zip', 'All '];
const managers: Values = [
  '',
  undefined,
  'm',
  'a b',
  'x'.repeat(128),
  'x'.repeat(129),
  'é'.repeat(64),
  'é'.repeat(65),
  'tab\there',
  'line\nbreak',
  '\u0000',
  '\u007f',
  'soft\u00adhyphen',
  '\u200b',
  '😀',
];
const validations: Values = ['', undefined, 'Strict', 'Warn', 'Ignore', 'strict', 'Zip', ' Warn'];
const matches: Values = ['', undefined, 'Exact', 'NotOlderThan', 'exact', 'Zip'];
const revisions: Values = ['', undefined, '0', 'x', '-1', '1.5', '+1', ' 1', '0x1', '18446744073709551616'];
const policies: Values = ['', undefined, 'Foreground', 'Background', 'Orphan', 'x', 'orphan'];
const pretty: Values = ['', undefined, 'true', 'false', 'x', '1'];

const writes: Readonly<Record<string, Values>> = {
  dryRun: dryRuns,
  fieldManager: managers,
  fieldValidation: validations,
  force: booleans,
  pretty,
  bogus: ['x'],
};
const reads: Readonly<Record<string, Values>> = {
  limit: [...integers, ...largeIntegers],
  resourceVersion: revisions,
  resourceVersionMatch: matches,
  continue: ['', undefined, 'x', 'e30', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ', '%%'],
  sendInitialEvents: booleans,
  allowWatchBookmarks: booleans,
  labelSelector: ['', undefined, 'l=a', '=', 'a b', 'l in', ',', 'l=a,', '!'],
  fieldSelector: ['', undefined, 'metadata.name=a', 'nonsense', '=', ',', 'metadata.name', 'a=b=c'],
  pretty,
  bogus: ['x'],
};
/** What is neither an error nor one second would leave a watch open. */
const seconds: Values = ['1', '', undefined, '1.5', 'x', '0x10', '9223372036854775808'];
const gets: Readonly<Record<string, Values>> = { resourceVersion: revisions, pretty, bogus: ['x'] };
const deletions: Readonly<Record<string, Values>> = {
  dryRun: dryRuns,
  gracePeriodSeconds: [...integers, ...largeIntegers],
  orphanDependents: booleans,
  propagationPolicy: policies,
  uid: ['', undefined, 'zz'],
  pretty,
  bogus: ['x'],
};

function randomQuery(random: Random, table: Readonly<Record<string, Values>>): [string, string | undefined][] {
  const names = Object.keys(table);
  return Array.from({ length: 1 + random.below(3) }, () => {
    const name = random.pick(names);
    return [name, random.pick(table[name] ?? [])];
  });
}

const shapes: readonly unknown[] = [5, -1, 1.5, 'x', '', true, null, [], {}, ['All'], [''], [null], [5], { uid: 5 }];

/** A value of a field of DeleteOptions: mostly of its type. */
const fields: Readonly<Record<string, readonly unknown[]>> = {
  kind: ['DeleteOptions', 'Status', 'Pod', 'ListOptions', ''],
  apiVersion: ['v1', 'meta.k8s.io/v1', 'apps/v1', 'a/b/c', ''],
  dryRun: [['All'], [], [''], ['All', 'All'], ['Zip'], ['All', 'Zip'], 'All'],
  gracePeriodSeconds: [0, 1, 60, -1, -5, 1.5, 9007199254740993n, 1e300],
  orphanDependents: [true, false],
  propagationPolicy: ['Foreground', 'Background', 'Orphan', 'x', ''],
  preconditions: [
    {},
    { uid: 'zz' },
    { uid: '' },
    { resourceVersion: '' },
    { resourceVersion: '1' },
    { uid: 5 },
    { resourceVersion: 5 },
    { bogus: 1 },
    [],
    'x',
  ],
  ignoreStoreReadErrorWithClusterBreakingPotential: [false, 'x'],
  bogus: [1],
};

const texts = ['5', '[]', '"x"', 'true', 'null', '{', '{]', '{}', ' ', '{"dryRun":["All"],"dryRun":[]}', '{"a":1}{'];

function randomDeleteOptions(random: Random): string {
  if (random.chance(0.2)) return random.pick(texts);
  const names = Object.keys(fields);
  const members = Array.from({ length: 1 + random.below(3) }, () => {
    const name = random.pick(names);
    const value = random.chance(0.25) ? random.pick(shapes) : random.pick(fields[name] ?? []);
    return `${JSON.stringify(name)}:${typeof value === 'bigint' ? String(value) : JSON.stringify(value)}`;
  });
  return `{${members.join(',')}}`;
}

/** How a call is made: its query, and the body of a deletion. */
export interface OddOptions {
  readonly query: string;
  readonly body?: string;
  readonly contentType?: string;
}

/** Options of a deletion of one object, or of a collection, which takes those of a list as well. */
export function oddDeletion(random: Random, isCollection: boolean): OddOptions {
  const ofList = isCollection && random.chance(0.4) ? randomQuery(random, { ...reads, timeoutSeconds: integers }) : [];
  const withBody = random.chance(0.6);
  const query = rawQuery([...(withBody && random.chance(0.7) ? [] : randomQuery(random, deletions)), ...ofList]);
  if (!withBody) return { query };
  const contentType = random.weighted([
    [8, 'application/json'],
    [2, 'application/yaml'],
    [0.3, 'text/plain'],
  ]);
  return { query, body: randomDeleteOptions(random), contentType };
}

export function oddWrite(random: Random): string {
  return rawQuery(randomQuery(random, writes));
}

export function oddGet(random: Random): string {
  return rawQuery(randomQuery(random, gets));
}

export function oddList(random: Random): string {
  return rawQuery(randomQuery(random, { ...reads, timeoutSeconds: integers }));
}

/** Options of a watch that shows no object and ends after a second, if it begins at all. */
export function oddWatch(random: Random): string {
  const { labelSelector: _, ...others } = reads;
  const query = randomQuery(random, { ...others, timeoutSeconds: seconds }).filter(
    ([name]) => name !== 'timeoutSeconds',
  );
  const timeout = random.chance(0.3) ? random.pick(seconds) : '1';
  return rawQuery([['watch', '1'], ['labelSelector', 'kctl.test/none'], ['timeoutSeconds', timeout], ...query]);
}

/** Types of patches whose body may be `{}` but for an apply. */
export const oddPatchTypes: readonly string[] = [MERGE_PATCH, MERGE_PATCH, APPLY_PATCH];
