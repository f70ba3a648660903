const secrets: readonly RegExp[] = [
  /\b(Bearer|Basic|Negotiate)\s+[\w.~+/=-]+/gi,
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b((?:access_?|id_?|refresh_?)?token|password|client[-_]?secret|clientKeyData)(["']?\s*[:=]\s*["']?)[^\s"',}&]+/gi,
  /([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi,
];

/** The text without what looks like a secret: bearer tokens, JWTs, private keys, passwords, user information in URLs. */
export function redact(text: string): string {
  const [bearer, jwt, key, field, userInfo] = secrets;
  if (bearer === undefined || jwt === undefined || key === undefined || field === undefined || userInfo === undefined)
    return text;
  return text
    .replace(bearer, '$1 [redacted]')
    .replace(jwt, '[redacted]')
    .replace(key, '[redacted key]')
    .replace(field, '$1$2[redacted]')
    .replace(userInfo, '$1[redacted]@');
}
