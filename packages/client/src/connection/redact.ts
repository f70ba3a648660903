type Rule = readonly [pattern: RegExp, replacement: string];

const rules: readonly Rule[] = [
  // V8 quotes the source around a syntax error, or its first character.
  [
    /(Unexpected token )'[^']*'?, (?:\.\.\.)?"[\s\S]*?"(?:\.\.\.)? is not valid JSON/g,
    '$1[redacted] is not valid JSON',
  ],
  [/(?:\.\.\.)?"[^"]*"(?:\.\.\.)? is not valid JSON/g, '[redacted] is not valid JSON'],
  [/\b(Bearer|Basic|Negotiate)\s+[\w.~+/=:-]+/gi, '$1 [redacted]'],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, '[redacted]'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[redacted key]'],
  [
    /((?:token|password|passwd|pwd|secret|api[-_]?key|authorization|clientKeyData|client-key-data)["']?\s*[:=]\s*["']?)(?!(?:Bearer|Basic|Negotiate)\b)[^\s"',}&]+/gi,
    '$1[redacted]',
  ],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s"'<>]*@/gi, '$1[redacted]@'],
];

/**
 * Returns the string without apparent secrets (bearer tokens, JWTs, private keys, passwords, user information in URLs).
 */
export function redact(text: string): string {
  return rules.reduce((shown, [pattern, replacement]) => shown.replace(pattern, replacement), text);
}

/** As {@link redact}, and also removes these exact strings, for messages from a component that has them. */
export function redactKnown(text: string, known: readonly (string | undefined)[]): string {
  // Longest first, so that a secret that contains another one goes as a whole. Short ones would take words apart.
  const secrets = known
    .filter((secret) => secret !== undefined)
    .filter(({ length }) => length >= 4)
    .toSorted((a, b) => b.length - a.length);
  return redact(secrets.reduce((shown, secret) => shown.replaceAll(secret, '[redacted]'), text));
}
