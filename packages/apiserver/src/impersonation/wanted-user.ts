import { goQuoted } from '@kctl/crd/internal/engine';
import { badRequest } from '../protocol/status.js';
import type { ApiRequest } from '../protocol/api-request.js';

/** Whom the headers of a request name, as they stand. */
export interface WantedUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

const extraPrefix = 'impersonate-extra-';

/**
 * Reads the `Impersonate-*` headers; undefined without such headers.
 *
 * @throws StatusError 400 if groups, a uid or extras come without a user
 */
export function wantedUserOf(request: ApiRequest): WantedUser | undefined {
  const lines = request.impersonation();
  if (lines.length === 0) return undefined;
  let name: string | undefined;
  let uid: string | undefined;
  const groups: string[] = [];
  const extra = new Map<string, string[]>();
  for (const [header, value] of lines) {
    // Of a header that should come once, the first line counts.
    if (header === 'impersonate-user') name ??= value;
    else if (header === 'impersonate-uid') uid ??= value;
    else if (header === 'impersonate-group') groups.push(value);
    else if (header.startsWith(extraPrefix)) {
      const key = unescaped(header.slice(extraPrefix.length));
      const values = extra.get(key);
      if (values === undefined) extra.set(key, [value]);
      else values.push(value);
    }
  }
  const wanted = { name: name ?? '', uid: uid ?? '', groups, extra };
  if (wanted.name !== '') return wanted;
  if (wanted.uid === '' && groups.length === 0 && extra.size === 0) return undefined;
  throw badRequest(`requested ${printed(wanted)} without impersonating a user name`);
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** The wanted user as Go prints it. */
function printed({ name, uid, groups, extra }: WantedUser): string {
  const list = (values: readonly string[]): string =>
    values.length === 0 ? '[]string(nil)' : `[]string{${values.map(goQuoted).join(', ')}}`;
  const entries = [...extra]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `${goQuoted(key)}:${list(values)}`);
  const map = entries.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`;
  return `&user.DefaultInfo{Name:${goQuoted(name)}, UID:${goQuoted(uid)}, Groups:${list(groups)}, Extra:${map}}`;
}
