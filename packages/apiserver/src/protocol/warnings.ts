import type { Reply } from './api-request.js';

/** Limit in runes for all warnings of an answer before each is cut. */
const maxTotalRunes = 4 * 1024;
const maxRunesWhenCut = 256;
const control = /\p{Cc}/u;

/**
 * An answer with its `Warning` headers, each message once. If they are longer than 4,096 runes together, each is cut to
 * 256, and those beyond 4,096 are then left out. Mirrors the API server's warning recorder.
 */
export function withWarnings(reply: Reply, warnings: readonly string[]): Reply {
  // Warnings that are empty, or cannot stand in a header, are left out.
  const told = warnings.filter((text) => text !== '' && !control.test(text) && text.isWellFormed());
  if (told.length === 0) return reply;
  const lines = withinLimit([...new Set(told)]).map((text) => `299 - ${quote(text)}`);
  return { ...reply, headers: { ...reply.headers, warning: lines } };
}

function withinLimit(texts: readonly string[]): string[] {
  const lengths = texts.map((text) => Array.from(text).length);
  if (lengths.reduce((sum, length) => sum + length, 0) <= maxTotalRunes) return [...texts];
  const kept: string[] = [];
  let written = 0;
  for (const text of texts) {
    if (written >= maxTotalRunes) break;
    const runes = Array.from(text).slice(0, maxRunesWhenCut);
    kept.push(runes.join(''));
    written += runes.length;
  }
  return kept;
}

/** A quoted-string of a header, in UTF-8: each byte is one character of the value. */
function quote(text: string): string {
  return Buffer.from(`"${text.replaceAll(/["\\]/g, '\\$&')}"`).toString('latin1');
}
