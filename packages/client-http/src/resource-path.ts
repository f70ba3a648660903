import { fieldSelectorFrom, formatGroupVersionKind, labelSelectorFrom } from '@kctl/apimachinery';
import { shownType } from '@kctl/options';
import type { Kind, ObjectKey } from '@kctl/apimachinery';
import type {
  DeleteAllOfOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  WatchOptions,
  WriteOptions,
} from '@kctl/client';

/** The path of a collection, in one namespace or, without one, in all. @throws TypeError for a bad namespace */
export function collectionPath(kind: Kind, namespace: string | undefined): string {
  const base = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  if (namespace === undefined || namespace === '' || kind.scope === 'Cluster') return `${base}/${kind.plural}`;
  return `${base}/namespaces/${segment(kind, 'namespace', namespace)}/${kind.plural}`;
}

/** The path of one object or of a subresource of it. @throws TypeError when namespace or name are missing or bad */
export function objectPath(kind: Kind, key: ObjectKey, subresource?: string): string {
  const { namespace, name } = key;
  if (kind.scope === 'Namespaced' && (namespace === undefined || namespace === ''))
    throw new TypeError(
      `${formatGroupVersionKind(kind)} ${JSON.stringify(name)}: namespace is not set: ${kind.plural} live in a namespace: pass { namespace, name }`,
    );
  const path = `${collectionPath(kind, namespace)}/${segment(kind, 'name', name)}`;
  return subresource === undefined ? path : `${path}/${segment(kind, 'subresource', subresource)}`;
}

/** A name must not reach beyond its place in the path (client-go: `rest.IsValidPathSegmentName`). */
function segment(kind: Kind, field: string, value: unknown): string {
  if (
    typeof value !== 'string' ||
    !value.isWellFormed() ||
    value === '' ||
    value === '.' ||
    value === '..' ||
    value.includes('/') ||
    value.includes('%')
  )
    throw new TypeError(
      `${formatGroupVersionKind(kind)}: ${field} ${JSON.stringify(value)} is not valid: expected text (well-formed Unicode) without "/" and "%", not empty, "." or ".."`,
    );
  return encodeURIComponent(value);
}

type QueryValue = string | number | boolean | undefined;

function encodeQuery(name: string, value: string): string {
  if (value.isWellFormed()) return encodeURIComponent(value);
  throw new TypeError(`${name} ${JSON.stringify(value)} is not valid: expected well-formed Unicode`);
}

/** Joins path and query, leaving out what is unset. */
export function withQuery(path: string, query: Readonly<Record<string, QueryValue>>): string {
  let text = path;
  let mark = '?';
  for (const name of Object.keys(query)) {
    const value = query[name];
    if (value === undefined || value === '' || value === false) continue;
    text += `${mark}${name}=${encodeQuery(name, String(value))}`;
    mark = '&';
  }
  return text;
}

export function getQuery(options: GetOptions): Record<string, QueryValue> {
  return { resourceVersion: options.resourceVersion };
}

export function listQuery(options: ListOptions): Record<string, QueryValue> {
  const { limit, timeoutSeconds, resourceVersion, resourceVersionMatch } = options;
  return {
    ...selectionQuery(options),
    // Without a bound is without the parameter.
    limit: limit === Infinity ? undefined : limit,
    continue: options.continue,
    resourceVersion,
    resourceVersionMatch,
    timeoutSeconds,
  };
}

export function watchQuery(options: WatchOptions): Record<string, QueryValue> {
  const { resourceVersion, resourceVersionMatch, allowWatchBookmarks, sendInitialEvents, timeoutSeconds } = options;
  return {
    watch: true,
    ...selectionQuery(options),
    allowWatchBookmarks,
    resourceVersion,
    resourceVersionMatch,
    ...(sendInitialEvents === undefined ? {} : { sendInitialEvents: String(sendInitialEvents) }),
    timeoutSeconds,
  };
}

export function writeQuery(options: WriteOptions | PatchOptions): Record<string, QueryValue> {
  return {
    dryRun: options.dryRun === true ? 'All' : undefined,
    fieldManager: options.fieldOwner,
    fieldValidation: options.fieldValidation,
    force: 'force' in options ? options.force : undefined,
  };
}

/** Label and field selector as query parameters. */
export function selectionQuery(
  options: Pick<DeleteAllOfOptions, 'labelSelector' | 'fieldSelector'>,
): Record<string, QueryValue> {
  return { labelSelector: labelText(options.labelSelector), fieldSelector: fieldText(options.fieldSelector) };
}

/** A string is sent as it is and the server validates it. Everything else is checked here. */
function labelText(selector: ListOptions['labelSelector']): string | undefined {
  return selector === undefined || typeof selector === 'string'
    ? selector
    : writtenText('labelSelector', labelSelectorFrom(selector));
}

function fieldText(selector: ListOptions['fieldSelector']): string | undefined {
  return selector === undefined || typeof selector === 'string'
    ? selector
    : writtenText('fieldSelector', fieldSelectorFrom(selector));
}

/** @throws TypeError when a selector that is not ours has no text: the request would select everything */
function writtenText(option: string, selector: { toString(): string }): string {
  const text: unknown = selector.toString();
  if (typeof text === 'string') return text;
  throw new TypeError(
    `${option}: toString of the selector returned ${shownType(text)}: expected a string such as "a=b"`,
  );
}
