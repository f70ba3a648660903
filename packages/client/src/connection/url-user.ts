/** User name and password of a URL. */
export interface UrlUser {
  readonly name: string;
  readonly password: string;
}

/** Separates a URL from its user information. A URL that is not valid stays whole and is refused when it is used. */
export function splitUrlUser(url: string): { readonly url: string; readonly user?: UrlUser } {
  if (!URL.canParse(url)) return { url };
  const { username, password } = new URL(url);
  if (username === '' && password === '') return { url };
  return { url: withoutUserInfo(url), user: { name: decoded(username), password: decoded(password) } };
}

/** The inverse of {@link splitUrlUser}. */
export function joinUrlUser(url: string | undefined, user: UrlUser | undefined): string | undefined {
  if (url === undefined || user === undefined) return url;
  return url.replace('://', `://${encodeURIComponent(user.name)}:${encodeURIComponent(user.password)}@`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A URL without user name and password, also one that is not valid because of what the password contains. */
export function withoutUserInfo(url: string): string {
  if (!URL.canParse(url) || !url.includes('://')) return url.replace(/^([a-z0-9+.-]+:\/\/)?.*@/is, '$1');
  const { username, password } = new URL(url);
  return username === '' && password === '' ? url : url.replace(/^([a-z0-9+.-]+:\/\/)[^/?#]*@/i, '$1');
}
