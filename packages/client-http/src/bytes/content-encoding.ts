import type { ByteStream } from './byte-stream.js';
import { gunzip } from './gunzip.js';

/** Makes an error of what is wrong with an answer. */
type Explain = (what: string, cause: unknown) => Error;

/** The codings of an answer's body, in the order in which they were applied, without case and without `identity`. */
export function contentCodings(header: string | readonly string[]): readonly string[] {
  const text = typeof header === 'string' ? header : header.join(',');
  return text
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
}

/** The body without its content coding. One that is not known fails when it is read. */
export function decoded(
  body: ByteStream,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  explain: Explain,
): AsyncIterable<Buffer[]> {
  const header = headers['content-encoding'];
  if (header === undefined) return body;
  const codings = contentCodings(header);
  const [only] = codings;
  if (only === undefined) return body;
  if (codings.length === 1 && (only === 'gzip' || only === 'x-gzip'))
    return gunzip(body, (reason, cause) => explain(`the gzip-compressed answer is ${reason}`, cause));
  const problem = explain(
    `the answer is encoded as ${JSON.stringify(codings.join(', '))}: expected gzip or no encoding`,
    undefined,
  );
  body.discard(problem);
  return refused(problem);
}

function refused(problem: Error): AsyncIterable<Buffer[]> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(problem) }) };
}
