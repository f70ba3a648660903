/** What engines say: it names neither the part, nor the value, nor the remedy. */
const raw =
  /Cannot (?:read|destructure|convert|use 'in'|mix)|(?<!evaluate )is not (?:a function|iterable|a constructor)(?:$| or | \()|Invalid time|The "|must be of type|circular structure|BigInt|Symbol value/;

/** Whether an error is one of the engine's own; those of Node for its own arguments included. */
export function isRaw(error: unknown): error is Error {
  return error instanceof Error && raw.test(error.message) && !error.message.includes('expected');
}
