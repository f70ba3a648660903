import { formatGroupVersionKind } from '@kctl/apimachinery';
import type { Kind, LabelSelector, LabelSelectorRequirement, ObjectKey } from '@kctl/apimachinery';
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
      `${kind.kind} ${JSON.stringify(name)}: namespace is not set: ${kind.plural} live in a namespace`,
    );
  const path = `${collectionPath(kind, namespace)}/${segment(kind, 'name', name)}`;
  return subresource === undefined ? path : `${path}/${segment(kind, 'subresource', subresource)}`;
}

/** A name must not reach beyond its place in the path (client-go: `rest.IsValidPathSegmentName`). */
function segment(kind: Kind, field: string, value: string): string {
  if (value === '' || value === '.' || value === '..' || value.includes('/') || value.includes('%'))
    throw new TypeError(
      `${formatGroupVersionKind(kind)}: ${field} ${JSON.stringify(value)} is not valid: expected text without "/" and "%", not empty, "." or ".."`,
    );
  return encodeURIComponent(value);
}

type QueryValue = string | number | boolean | undefined;

/** Joins path and query, leaving out what is unset. */
export function withQuery(path: string, query: Readonly<Record<string, QueryValue>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' || value === false ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

export function getQuery(options: GetOptions): Record<string, QueryValue> {
  return { resourceVersion: options.resourceVersion };
}

export function listQuery(options: ListOptions): Record<string, QueryValue> {
  const { limit, timeoutSeconds, resourceVersion, resourceVersionMatch } = options;
  return {
    ...selectionQuery(options),
    limit,
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

function labelText(selector: ListOptions['labelSelector']): string | undefined {
  if (selector === undefined || typeof selector === 'string') return selector;
  if (isParsed(selector)) return selector.toString();
  if (isLabelSelector(selector)) return labelSelectorText(selector);
  return pairs(selector);
}

function fieldText(selector: ListOptions['fieldSelector']): string | undefined {
  if (selector === undefined || typeof selector === 'string') return selector;
  return isParsed(selector) ? selector.toString() : pairs(selector, escapeFieldValue);
}

interface Parsed {
  readonly type: 'label' | 'field';
  toString(): string;
}

/** A parsed selector has a method; a record of labels may well have a label called `type`. */
function isParsed(selector: object): selector is Parsed {
  return 'matches' in selector && typeof selector.matches === 'function';
}

function isLabelSelector(selector: object): selector is LabelSelector {
  return (
    ('matchLabels' in selector && typeof selector.matchLabels === 'object') ||
    ('matchExpressions' in selector && typeof selector.matchExpressions === 'object')
  );
}

function pairs(record: object, escape: (value: string) => string = (value) => value): string {
  return Object.entries(record)
    .map(([key, value]) => `${key}=${escape(String(value))}`)
    .sort()
    .join(',');
}

/** Values of field selectors escape the characters that have a meaning in them (apimachinery: `EscapeValue`). */
function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

function labelSelectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const terms = Object.entries(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` }));
  const all = [
    ...terms,
    ...matchExpressions.map((requirement) => ({ key: requirement.key, text: termText(requirement) })),
  ];
  return all
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',');
}

function termText({ key, operator, values = [] }: LabelSelectorRequirement): string {
  switch (operator) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'In':
      return `${key} in (${[...values].sort().join(',')})`;
    case 'NotIn':
      return `${key} notin (${[...values].sort().join(',')})`;
  }
}
