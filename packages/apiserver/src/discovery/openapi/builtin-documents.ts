/** The documents of the built-in kinds, as compressed data that is read when a client requests the first of them. */
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { objectOf, type JsonObject } from '@kctl/crd/internal/engine';

/** A document as it is served. */
export interface OpenApiDocument {
  readonly body: string | Uint8Array;
  /** SHA-512 of the JSON form, in capital hexadecimal digits, like upstream's entity tag. */
  readonly hash: string;
}

/** Documents recorded from a real server. */
export interface BuiltinDocuments {
  /** OpenAPI v3, by path: `api/v1`, `apis/apps/v1`, `version`. */
  readonly v3: ReadonlyMap<string, OpenApiDocument>;
  /**
   * The source of the v2 document in three parts, up to the end of its paths, of its definitions, and of the document.
   */
  readonly v2: { readonly paths: Uint8Array; readonly definitions: Uint8Array; readonly end: Uint8Array };
  /** The document of a sample custom resource, read. */
  readonly sample: JsonObject;
}

const decompress = promisify(brotliDecompress);

/** Reads the data, which takes some milliseconds, most of them in a zlib thread. */
export async function readBuiltinDocuments(): Promise<BuiltinDocuments> {
  const { data, sections } = await import('./generated/documents.js');
  const whole = await decompress(Buffer.from(data, 'base64'));
  const documents = new Map<string, { readonly body: Buffer; readonly hash: string }>();
  let at = 0;
  for (const line of sections.split('\n')) {
    const [name = '', length = '', hash = ''] = line.split(',');
    const end = at + Number(length);
    documents.set(name, { body: whole.subarray(at, end), hash });
    at = end;
  }
  const take = (name: string): Buffer => {
    const document = documents.get(name);
    if (document === undefined) throw new RangeError(`OpenAPI: the data has no section ${JSON.stringify(name)}`);
    documents.delete(name);
    return document.body;
  };
  const v2 = { paths: take('v2 paths'), definitions: take('v2 definitions'), end: take('v2 end') };
  return { v3: documents, v2, sample: objectOf(JSON.parse(take('sample').toString())) };
}
