/** A warning that the server sent along with an answer, e.g. about a deprecated API. */
export interface ServerWarning {
  /** Always 299: other codes are not for API clients. */
  readonly code: 299;
  readonly agent: string;
  readonly text: string;
}

/** The request whose answer had a warning. */
export interface WarnedRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
}

/** `299 agent "text" ["date"]`, several of them separated by commas; the text is a quoted string with \-escapes. */
const warning = /299 (\S+) "((?:[^"\\]|\\.)*)"(?: "[^"]*")?/g;

/** The warnings with code 299 in `Warning` headers. */
export function parseWarnings(header: string | string[] | undefined): readonly ServerWarning[] {
  if (header === undefined) return [];
  const text = typeof header === 'string' ? header : header.join(', ');
  return Array.from(text.matchAll(warning), ([, agent = '-', quoted = '']) => ({
    code: 299,
    agent,
    text: quoted.replace(/\\(.)/g, '$1'),
  }));
}
