import { badRequest } from '../protocol/status.js';

/** Start of the next page. Opaque to clients; the same string as upstream's. */
export interface ContinueToken {
  /** Revision of the first page; -1: the present state, for a client that goes on after its revision expired. */
  readonly revision: number;
  /** First key of the next page, relative to the namespace of the list. */
  readonly start: string;
}

/** Encodes a token as base64url of upstream's JSON. */
export function encodeContinue({ revision, start }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start })).toString('base64url');
}

const bad = (why: string): Error => badRequest(`invalid continue token: continue key is not valid: ${why}`);

/** Reads a token. @throws StatusError 400 */
export function decodeContinue(text: string): ContinueToken {
  const illegal = illegalAt(text);
  if (illegal !== undefined) throw bad(`illegal base64 data at input byte ${illegal}`);
  const json = Buffer.from(text, 'base64url').toString();
  const token = parse(json);
  if (typeof token !== 'object' || token === null) throw bad('unexpected end of JSON input');
  const v: unknown = Reflect.get(token, 'v');
  const rv: unknown = Reflect.get(token, 'rv');
  const start: unknown = Reflect.get(token, 'start');
  if (v !== 'meta.k8s.io/v1')
    throw bad(`server does not recognize this encoded version ${typeof v === 'string' ? v : ''}`);
  if (typeof rv !== 'number' || !Number.isInteger(rv) || rv === 0)
    throw bad('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  if (typeof start !== 'string' || start === '') throw bad('encoded start key empty (version meta.k8s.io/v1)');
  return { revision: rv, start };
}

/** The byte at which Go's decoder of unpadded base64url gives up. */
function illegalAt(text: string): number | undefined {
  const other = /[^A-Za-z0-9_-]/.exec(text);
  if (other !== null) return Buffer.byteLength(text.slice(0, other.index));
  return text.length % 4 === 1 ? text.length - 1 : undefined;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw bad(
      json === ''
        ? 'unexpected end of JSON input'
        : `invalid character ${quoteRune(json)} looking for beginning of value`,
    );
  }
}

function quoteRune(json: string): string {
  return `'${JSON.stringify(String.fromCodePoint(json.codePointAt(0) ?? 0)).slice(1, -1)}'`;
}
