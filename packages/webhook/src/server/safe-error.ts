import { messageOf } from '@kctl/telemetry';

/** What stands in place of the message of a SyntaxError: V8 quotes the text that failed to parse, which may be secret. */
const withheld = 'a text could not be parsed';

/** The message of anything that was thrown, for an answer; that of a SyntaxError is withheld. */
export function safeMessageOf(error: unknown): string {
  return error instanceof SyntaxError ? withheld : messageOf(error);
}

/** The error for a log: as it is, or, where a SyntaxError is among its causes, a copy that quotes nothing. */
export function safeError(error: unknown): unknown {
  const chain: Error[] = [];
  for (let link = error; link instanceof Error && !chain.includes(link); link = link.cause) chain.push(link);
  if (!chain.some((link) => link instanceof SyntaxError)) return error;
  return chain.reduceRight<Error | undefined>((cause, link) => {
    const copy = new Error(safeMessageOf(link), cause === undefined ? {} : { cause });
    copy.name = link.name;
    const frames = link.stack?.indexOf('\n    at ') ?? -1;
    copy.stack = `${link.name}: ${copy.message}${frames < 0 ? '' : (link.stack?.slice(frames) ?? '')}`;
    return copy;
  }, undefined);
}
