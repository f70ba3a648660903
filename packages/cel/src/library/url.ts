import type { FunctionEntry } from '../check/functions.js';
import { structType, type CelType } from '../types/type.js';
import { ArrayList } from '../values/list.js';
import { EntryMap } from '../values/map.js';
import { Failure, LibraryValue, noSuchOverload, type Value } from '../values/value.js';

interface Parts {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

class UrlValue extends LibraryValue {
  override readonly type: CelType = structType('kubernetes.URL');
  readonly parts: Parts;
  readonly text: string;

  constructor(parts: Parts, text: string) {
    super();
    this.parts = parts;
    this.text = text;
  }

  override equals(other: Value): boolean {
    return other instanceof UrlValue && other.text === this.text;
  }
}

function escapeProblem(text: string): string | undefined {
  const match = /%(?![0-9A-Fa-f]{2}).{0,2}/s.exec(text);
  return match === null ? undefined : `invalid URL escape ${JSON.stringify(match[0])}`;
}

function hostProblem(host: string): string | undefined {
  const at = host.lastIndexOf('@');
  const address = host.slice(at + 1);
  const bracket = /^\[([0-9a-fA-F:.]+(?:%25[^\]]+)?)\](.*)$/.exec(address);
  if (address.startsWith('[') && bracket === null) return "missing ']' in host";
  const port = bracket === null ? (/:([^:]*)$/.exec(address)?.[1] ?? '') : (bracket[2] ?? '').replace(/^:/, '');
  if (!/^\d*$/.test(port)) return `invalid port ${JSON.stringify(`:${port}`)} after host`;
  const bad = bracket === null ? /[^A-Za-z0-9\-._~!$&'()*+,;=:%\u0080-\uffff@"<>]/.exec(address) : null;
  if (bad !== null) return `invalid character ${JSON.stringify(bad[0])} in host name`;
  return undefined;
}

/** Reads a URL as Go's `url.ParseRequestURI` does: absolute, or a path. */
export function parseUrl(text: string): UrlValue | Failure {
  const fail = (problem: string): Failure =>
    new Failure(`URL parse error during conversion from string: parse ${JSON.stringify(text)}: ${problem}`);
  if (text === '') return fail('empty url');
  if (/[\u0000-\u001f\u007f]/.test(text)) return fail('net/url: invalid control character in URL');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1] ?? '';
  if (scheme === '' && text.startsWith(':')) return fail('missing protocol scheme');
  let rest = scheme === '' ? text : text.slice(scheme.length + 1);
  const question = rest.indexOf('?');
  const query = question < 0 ? '' : rest.slice(question + 1);
  if (question >= 0) rest = rest.slice(0, question);
  if (!rest.startsWith('/')) {
    if (scheme === '') return fail('invalid URI for request');
    return new UrlValue({ scheme: scheme.toLowerCase(), host: '', path: '', query }, text);
  }
  let host = '';
  if (scheme !== '' && rest.startsWith('//')) {
    const end = rest.indexOf('/', 2);
    host = end < 0 ? rest.slice(2) : rest.slice(2, end);
    rest = end < 0 ? '' : rest.slice(end);
    const problem = hostProblem(host);
    if (problem !== undefined) return fail(problem);
  }
  const problem = escapeProblem(rest);
  if (problem !== undefined) return fail(problem);
  return new UrlValue(
    { scheme: scheme.toLowerCase(), host: host.slice(host.lastIndexOf('@') + 1), path: rest, query },
    text,
  );
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

function accessor(name: string, id: string, read: (parts: Parts) => Value, type = 'string'): FunctionEntry {
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
