/** Takes out of an answer what differs between any two servers: uids, times, revisions, generated names, addresses. */
import type { Json } from '../harness/doc.js';
import type { Answer } from '../harness/http.js';
import { normaliseTable } from './tables.js';

export interface Normalised {
  status: number;
  contentType: string;
  warnings: readonly string[];
  body: Json;
}

/** What the session knows of the object that an answer shows: to tell whether its revision moved. */
export type RevisionOf = (key: string) => string | undefined;

export const objectKey = (doc: Json): string =>
  `${String(doc.kind)}/${String(doc.metadata?.namespace)}/${String(doc.metadata?.name)}`;

export function normaliseAnswer(answer: Answer, revisionOf: RevisionOf): Normalised {
  const contentType = [answer.headers['content-type'] ?? ''].flat().join();
  let body: Json;
  try {
    body = JSON.parse(answer.text);
  } catch {
    body = answer.text;
  }
  body = orderCauses(body);
  return {
    status: answer.status,
    contentType,
    warnings: answer.warnings.map(normaliseText),
    body: normaliseDocument(body, revisionOf),
  };
}

/**
 * Causes are compared as a set: the schema of a custom resource is walked in the random order of Go's maps, and the
 * metadata of an update is validated two to four times, which repeats its causes.
 */
function orderCauses(body: Json): Json {
  const causes = body?.details?.causes as { field?: string; message?: string }[] | undefined;
  if (body?.kind !== 'Status' || causes === undefined) return body;
  const told = causes.map((cause) => ({ ...cause, message: normaliseText(cause.message ?? '') }));
  const distinct = new Map(told.map((cause) => [JSON.stringify(cause), cause]));
  const ordered = [...distinct.keys()].toSorted().map((key) => distinct.get(key));
  const message = String(body.message).replace(/ is invalid: .*$/s, ' is invalid: <causes>');
  return { ...body, message, details: { ...body.details, causes: ordered } };
}

/** Managers stand in the order of the seconds in which they wrote, and on two servers a second ends between other writes. */
function orderManagers(managers: Json[]): Json[] {
  const identity = ({ manager, operation, apiVersion, subresource }: Json): string =>
    JSON.stringify([manager, operation, apiVersion, subresource]);
  return managers.toSorted((a, b) => (identity(a) < identity(b) ? -1 : 1));
}

const TIMES = new Set([
  'creationTimestamp',
  'deletionTimestamp',
  'lastTransitionTime',
  'lastUpdateTime',
  'lastProbeTime',
  'startTime',
  'time',
]);

export function normaliseDocument(document: Json, revisionOf: RevisionOf): Json {
  const known =
    typeof document === 'object' && document !== null && document.metadata?.name
      ? revisionOf(objectKey(document))
      : undefined;
  const shown = document?.kind === 'Table' ? normaliseTable(document) : document;
  const visit = (value: Json, name: string, path: string): Json => {
    if (Array.isArray(value)) {
      const items = name === 'managedFields' ? orderManagers(value) : value;
      return items.map((item, index) => visit(item, String(index), `${path}/${index}`));
    }
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, visit(item, key, `${path}/${key}`)]));
    if (typeof value !== 'string') return name === 'nodePort' && value !== 0 ? '<port>' : value;
    if (TIMES.has(name)) return '<time>';
    if (name === 'uid' && value.length === 36) return '<uid>';
    if (name === 'continue') return value === '' ? '' : '<continue>';
    if (name === 'resourceVersion') {
      if (path !== '/metadata/resourceVersion' || known === undefined) return '<revision>';
      return value === known ? '<revision: unchanged>' : '<revision: new>';
    }
    return normaliseText(value);
  };
  return visit(shown, '', '');
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

export function normaliseText(text: string): string {
  return (
    text
      .replace(/patch: Invalid value: "\{.*\}": /s, 'patch: Invalid value: "<object>": ')
      .replace(/^Invalid value: "\{.*\}": (json|strict)/s, 'Invalid value: "<object>": $1')
      .replace(/ in scheme "[^"]*"/g, ' in scheme <place in the Go source>')
      // The real server adds what it printed of a pod before and after.
      .replace(
        /(for it to be|previously negative\)|`spec\.tolerations` \(only additions to existing tolerations\))\n@@[\s\S]*$/,
        '$1',
      )
      // Errors of types come in the random order of Go's maps.
      .replace(
        /errors:\n((?: {2}.*\n?)+)/,
        (_, lines: string) => `errors:\n${lines.trimEnd().split('\n').toSorted().join('\n')}`,
      )
      // The first bytes of a body, which has revisions in it.
      .replace(/\([0-9a-f]{16,} \.\.\.\)/g, '(<bytes> ...)')
      .replace(UUID, '<uid>')
      .replace(/\b127\.0\.0\.1:\d+/g, '<address>')
      .replace(/the ResourceVersion in (the precondition|record) \(\d+\)/g, 'the ResourceVersion in $1 (<revision>)')
      .replace(/resource version: \d+( \(\d+\)|, current: \d+)/g, 'resource version: <revision>')
      .replace(/\b10\.\d+\.\d+\.\d+\b/g, '<ip>')
      .replace(/Key: \S+,/g, 'Key: <key>,')
      .replace(/\bgen-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, 'gen-<generated>')
      .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?[+-]\d{4} \w+( m=\S+)?|Z)/g, (time) =>
        time.startsWith('2026-01-01') || time.startsWith('2001') ? time : '<time>',
      )
  );
}
