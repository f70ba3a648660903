import type { Reply } from '../server/api-request.js';

/** What all warnings of an answer may have in runes before each is cut. */
const maxTotalRunes = 4 * 1024;
const maxRunesWhenCut = 256;

/**
 * An answer with its `Warning` headers, each text once. Where they are longer than 4,096 runes together, each is cut to
 * 256, and what is beyond 4,096 then is left out. Mirrors the API server's warning recorder.
 */
export function withWarnings(reply: Reply, warnings: readonly string[]): Reply {
  if (warnings.length === 0) return reply;
  const lines = withinLimit([...new Set(warnings)]).map((text) => `299 - ${quote(text)}`);
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

/** A quoted-string of a header: no control characters, and nothing beyond ASCII that a header cannot carry. */
function quote(text: string): string {
  const plain = text.replaceAll(/[\u0000-\u001f\u007f]/g, ' ').replaceAll(/[^\x20-\x7e]/g, '?');
  return `"${plain.replaceAll(/["\\]/g, '\\$&')}"`;
}
