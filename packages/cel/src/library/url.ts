import type { FunctionEntry } from '../check/functions.js';
import { structType, type CelType } from '../types/type.js';
import { ArrayList } from '../values/list.js';
import { EntryMap } from '../values/map.js';
import { parseRequestUri, type UrlParts } from '../values/request-uri.js';
import { Failure, LibraryValue, noSuchOverload, type Value } from '../values/value.js';

class UrlValue extends LibraryValue {
  override readonly type: CelType = structType('kubernetes.URL');
  readonly parts: UrlParts;
  readonly text: string;

  constructor(parts: UrlParts, text: string) {
    super();
    this.parts = parts;
    this.text = text;
  }

  override equals(other: Value): boolean {
    return other instanceof UrlValue && other.text === this.text;
  }
}

export function parseUrl(text: string): UrlValue | Failure {
  const read = parseRequestUri(text);
  if ('value' in read) return new UrlValue(read.value, text);
  return new Failure(`URL parse error during conversion from string: parse ${JSON.stringify(text)}: ${read.problem}`);
}

function hostname(host: string): string {
  const bracket = /^\[([^\]]*)\]/.exec(host);
  return bracket === null ? host.replace(/:\d*$/, '') : (bracket[1] ?? '');
}

function unescape(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function queryOf(query: string): Value {
  const entries = new Map<string, [Value, Value]>();
  const values = new Map<string, Value[]>();
  for (const part of query.split('&')) {
    if (part === '' || part.includes(';')) continue;
    const equals = part.indexOf('=');
    const key = unescape(equals < 0 ? part : part.slice(0, equals));
    const value = unescape(equals < 0 ? '' : part.slice(equals + 1));
    if (key === undefined || value === undefined) continue;
    const list = values.get(key) ?? [];
    list.push(value);
    values.set(key, list);
  }
  for (const [key, list] of values) entries.set(key, [key, new ArrayList(list)]);
  return new EntryMap(entries);
}

const escapedPath = (path: string): string =>
  path.replaceAll(/[^A-Za-z0-9\-._~!$&'()*+,;=:@%/]/gu, (char) => encodeURIComponent(char));

function accessor(name: string, id: string, read: (parts: UrlParts) => Value, type = 'string'): FunctionEntry {
  return {
    name,
    id,
    type: `kubernetes.URL.(): ${type}`,
    call: ([url]) => (url instanceof UrlValue ? read(url.parts) : noSuchOverload),
  };
}

/** Kubernetes' URLs. */
export const urlLibrary: readonly FunctionEntry[] = [
  {
    name: 'url',
    id: 'string_to_url',
    type: '(string): kubernetes.URL',
    call: ([text]) => (typeof text === 'string' ? parseUrl(text) : noSuchOverload),
  },
  {
    name: 'isURL',
    id: 'is_url_string',
    type: '(string): bool',
    call: ([text]) => (typeof text === 'string' ? !(parseUrl(text) instanceof Failure) : noSuchOverload),
  },
  accessor('getScheme', 'url_get_scheme', ({ scheme }) => scheme),
  accessor('getHost', 'url_get_host', ({ host }) => host),
  accessor('getHostname', 'url_get_hostname', ({ host }) => hostname(host)),
  accessor('getPort', 'url_get_port', ({ host }) => /:(\d*)$/.exec(host.replace(/^\[[^\]]*\]/, ''))?.[1] ?? ''),
  accessor('getEscapedPath', 'url_get_escaped_path', ({ path }) => escapedPath(path)),
  accessor('getQuery', 'url_get_query', ({ query }) => queryOf(query), 'map(string, list(string))'),
];
