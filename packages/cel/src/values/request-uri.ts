import { isIPv6 } from 'node:net';

/** The parts of a URL. */
export interface UrlParts {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

type Read<T> = { readonly value: T } | { readonly problem: string };

/** Characters that need no escape in a host, including everything beyond ASCII. */
const inHost = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}]/u;

function escapeProblem(text: string, isAllowed: (escape: string) => boolean = () => true): string | undefined {
  for (const [escape] of text.matchAll(/%[^%]{0,2}/gs)) {
    if (!/^%[0-9A-Fa-f]{2}$/.test(escape) || !isAllowed(escape)) {
      return `invalid URL escape ${JSON.stringify(escape)}`;
    }
  }
  return undefined;
}

function hostTextProblem(text: string): string | undefined {
  const bad = inHost.exec(text)?.[0];
  // Only bytes beyond ASCII may be escaped, and the percent sign itself.
  return (
    escapeProblem(text, (escape) => escape === '%25' || /^%[89A-Fa-f]/.test(escape)) ??
    (bad === undefined ? undefined : `invalid character ${JSON.stringify(bad)} in host name`)
  );
}

function zoneProblem(text: string): string | undefined {
  const bad = inHost.exec(text)?.[0];
  // A zone may have whatever a host has, as an escape, too, and spaces as escapes.
  const isAllowed = (escape: string): boolean => {
    const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return char === ' ' || char === '%' || (char < '\u0080' && !inHost.test(char));
  };
  return (
    escapeProblem(text, isAllowed) ??
    (bad === undefined ? undefined : `invalid character ${JSON.stringify(bad)} in host name`)
  );
}

function portProblem(port: string): string | undefined {
  return /^(?::\d*)?$/.test(port) ? undefined : `invalid port ${JSON.stringify(port)} after host`;
}

function literalProblem(host: string): string | undefined {
  const end = host.lastIndexOf(']');
  if (end < 0) return "missing ']' in host";
  const problem = portProblem(host.slice(end + 1));
  if (problem !== undefined) return problem;
  const literal = host.slice(1, end);
  const zone = literal.indexOf('%25');
  const address = zone < 0 ? literal : literal.slice(0, zone);
  const escape = hostTextProblem(address) ?? (zone < 0 ? undefined : zoneProblem(literal.slice(zone)));
  if (escape !== undefined) return escape;
  const isAddress = isIPv6(address) && !address.includes('%') && (zone < 0 || literal.length > zone + 3);
  return isAddress ? undefined : `invalid host: ParseAddr(${JSON.stringify(literal)}): unable to parse IP`;
}

function hostProblem(scheme: string, host: string): string | undefined {
  const bracket = host.lastIndexOf('[');
  if (bracket > 0) return 'invalid IP-literal';
  if (bracket === 0) return literalProblem(host);
  const isStrict = scheme === 'http' || scheme === 'https';
  const colon = isStrict ? host.indexOf(':') : host.lastIndexOf(':');
  return (colon < 0 ? undefined : portProblem(host.slice(colon))) ?? hostTextProblem(host);
}

function authority(scheme: string, text: string): Read<string> {
  const at = text.lastIndexOf('@');
  const host = text.slice(at + 1);
  const problem = hostProblem(scheme, host);
  if (problem !== undefined) return { problem };
  const user = text.slice(0, Math.max(at, 0));
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) return { problem: 'net/url: invalid userinfo' };
  const escape = escapeProblem(user);
  return escape === undefined ? { value: host } : { problem: escape };
}

/** Reads a URL as Go's `url.ParseRequestURI` does, either absolute or a path. */
export function parseRequestUri(text: string): Read<UrlParts> {
  if (/[\u0000-\u001f\u007f]/.test(text)) return { problem: 'net/url: invalid control character in URL' };
  if (text === '') return { problem: 'empty url' };
  if (text === '*') return { value: { scheme: '', host: '', path: '*', query: '' } };
  if (text.startsWith(':')) return { problem: 'missing protocol scheme' };
  const written = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1] ?? '';
  const scheme = written.toLowerCase();
  const whole = written === '' ? text : text.slice(written.length + 1);
  const question = whole.indexOf('?');
  const query = question < 0 ? '' : whole.slice(question + 1);
  let path = question < 0 ? whole : whole.slice(0, question);
  if (!path.startsWith('/')) {
    return scheme === '' ? { problem: 'invalid URI for request' } : { value: { scheme, host: '', path: '', query } };
  }
  let host = '';
  if (scheme !== '' && path.startsWith('//')) {
    const end = path.indexOf('/', 2);
    const read = authority(scheme, end < 0 ? path.slice(2) : path.slice(2, end));
    if ('problem' in read) return read;
    host = read.value;
    path = end < 0 ? '' : path.slice(end);
  }
  const problem = escapeProblem(path);
  return problem === undefined ? { value: { scheme, host, path, query } } : { problem };
}
