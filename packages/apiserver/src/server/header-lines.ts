type Line = readonly [name: string, value: string];

const none: readonly Line[] = [];
const prefix = 'impersonate-';

/**
 * The impersonation headers among headers that hold repeated lines as one, joined by commas. Each value is a line
 * again.
 */
export function impersonationOf(headers: Iterable<Line>): readonly Line[] {
  let lines: Line[] | undefined;
  for (const [header, value] of headers) {
    const name = header.toLowerCase();
    if (!name.startsWith(prefix)) continue;
    const isList = name === 'impersonate-group' || name.startsWith('impersonate-extra-');
    for (const each of isList ? value.split(/, ?/) : [value]) (lines ??= []).push([name, fromBytes(each)]);
  }
  return lines ?? none;
}

/** The headers as a socket received them, names and values in turn; without the pseudo-headers of HTTP/2. */
export function headerLines(raw: readonly string[]): readonly Line[] {
  const lines: Line[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    if (!name.startsWith(':')) lines.push([name, raw[index + 1] ?? '']);
  }
  return lines;
}

/** The impersonation headers as a socket received them, with names and values in turn. */
export function impersonationLines(raw: readonly string[]): readonly Line[] {
  let lines: Line[] | undefined;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const header = raw[index] ?? '';
    if (header.length <= prefix.length || header.slice(0, prefix.length).toLowerCase() !== prefix) continue;
    (lines ??= []).push([header.toLowerCase(), fromBytes(raw[index + 1] ?? '')]);
  }
  return lines ?? none;
}

/** Header values are bytes, of which each is one character here: UTF-8 by what Kubernetes' clients send. */
function fromBytes(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8');
}
