/** `/openapi/v2` and `/openapi/v3`. */
import { createHash } from 'node:crypto';
import type { UntypedObject } from '@kctl/apimachinery';
import { systemClock, type Clock } from '@kctl/wait';
import { jsonText, objectOf, type JsonObject } from '@kctl/crd/internal/engine';
import { parseAccept } from '../../codecs/negotiate.js';
import { turnMs } from '../../handlers/list-reply.js';
import { nextTurn } from '@kctl/wait/internal';
import { commonHeaders, pageNotFound } from '../../protocol/plain-reply.js';
import type { Registry } from '../../registry/registry.js';
import type { ResourceDefinition } from '../../resource/resource.js';
import type { Offload } from '../../offload/offload.js';
import type { ApiRequest, Reply } from '../../protocol/api-request.js';
import type { ObjectVersion } from '../../storage/version.js';
import { readBuiltinDocuments, type BuiltinDocuments, type OpenApiDocument } from './builtin-documents.js';
import { customDocument, fragmentV2, fragmentV3 } from './custom-documents.js';
import { readCustomTexts, type CustomTexts } from './custom-texts.js';
import type { Fragment, FragmentV2, PartsV2 } from '../../offload/fragment.js';
import { encodePartsV2, joinPartsV2 } from './protobuf-v2.js';
import { encodeOpenApiV3 } from './protobuf-v3.js';

/** Options for the documents. */
export interface OpenApiOptions {
  readonly registry: Registry;
  /** The CustomResourceDefinition of this name, as it is stored. */
  readonly crd: (name: string) => StoredDefinition | undefined;
  readonly clock: Clock;
  /** Makes the documents of long definitions. */
  readonly offload: Offload;
}

/** A CustomResourceDefinition. Of a long one only the JSON is read. */
export type StoredDefinition = Pick<ObjectVersion, 'object' | 'text' | 'textLength'>;

/** From this length on, in characters, another thread makes the documents of a definition. */
const longText = 64 * 1024;
/** From this length on another thread encodes a document. Most documents have 80 KB in common. */
const longDocument = 256 * 1024;

/** Answers requests for OpenAPI documents. */
export interface OpenApi {
  /** The answer to a request below `/openapi`; a bare 404 if there is no such document. */
  answer(request: ApiRequest, segments: readonly string[], query: URLSearchParams): Promise<Reply>;
}

const jsonType = 'application/json';
/** The names that clients use, and the one that the answer has. */
function typesOf(version: 'v2' | 'v3'): ReadonlyMap<string, string> {
  const protobuf = `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`;
  return new Map([
    [jsonType, jsonType],
    [`application/com.github.proto-openapi.spec.${version}@v1.0+protobuf`, protobuf],
    [protobuf, protobuf],
  ]);
}
const v2Types = typesOf('v2');
const v3Types = typesOf('v3');

const yearMs = 365 * 24 * 60 * 60 * 1000;
/** A document out of its pieces; others have their turn in between. */
async function joined(pieces: readonly (string | Uint8Array)[]): Promise<OpenApiDocument & { readonly body: Buffer }> {
  const hash = createHash('sha512');
  const parts: Uint8Array[] = [];
  let begun = systemClock.monotonicNow();
  for (const piece of pieces) {
    const part = typeof piece === 'string' ? Buffer.from(piece) : piece;
    hash.update(part);
    parts.push(part);
    if (systemClock.monotonicNow() - begun < turnMs) continue;
    await nextTurn();
    begun = systemClock.monotonicNow();
  }
  return { body: Buffer.concat(parts), hash: hash.digest('hex').toUpperCase() };
}

/** The media type of an answer, from the first clause that is served; undefined if none is. */
function negotiateType(accept: string | undefined, types: ReadonlyMap<string, string>): string | undefined {
  for (const { type } of parseAccept(accept === undefined || accept === '' ? '*/*' : accept)) {
    if (type === '*/*' || type === 'application/*') return jsonType;
    const served = types.get(type);
    if (served !== undefined) return served;
  }
  return undefined;
}

function empty(status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers: { ...commonHeaders, ...headers }, body: '' };
}

function pathOf(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

interface Builtin extends BuiltinDocuments {
  readonly texts: CustomTexts;
}

interface CustomVersion {
  readonly definition: ResourceDefinition;
  readonly crd: StoredDefinition;
}

/** Values made once for each version of each state of a definition. */
type Remembered<T> = WeakMap<UntypedObject, Map<string, Promise<T>>>;

class OpenApiDocuments implements OpenApi {
  readonly #options: OpenApiOptions;
  /** Fragments by the object that defines them, which a change replaces; then by version. */
  readonly #fragments: Remembered<Fragment> = new WeakMap();
  readonly #fragmentsV2: Remembered<FragmentV2> = new WeakMap();
  /** Documents by path, as long as they are made of the same fragments. */
  readonly #documents = new Map<string, { readonly of: readonly Fragment[]; readonly document: OpenApiDocument }>();
  /** Documents in protobuf, made when a client requests them for the first time. */
  readonly #protobuf = new WeakMap<OpenApiDocument, Promise<Uint8Array>>();
  #builtin: Promise<Builtin> | undefined;
  #builtinParts: Promise<PartsV2> | undefined;

  constructor(options: OpenApiOptions) {
    this.#options = options;
  }

  async answer(request: ApiRequest, segments: readonly string[], query: URLSearchParams): Promise<Reply> {
    const [, version, ...path] = segments;
    if (version === 'v2' && path.length === 0) return this.#answerV2(request);
    if (version !== 'v3') return pageNotFound();
    if (path.length === 0) return this.#index();
    const document = await this.#document(path.join('/'));
    if (document === undefined) return empty(404);
    const type = negotiateType(request.header('accept'), v3Types);
    if (type === undefined) return empty(406, { vary: 'Accept' });
    const headers = { 'content-type': type, etag: JSON.stringify(document.hash), vary: 'Accept' };
    const body = type === jsonType ? document.body : await this.#encoded(document);
    const given = query.get('hash') ?? '';
    if (given === '') return conditional(request, body, headers);
    const location = `/openapi/v3/${path.join('/')}?hash=${document.hash}`;
    if (given !== document.hash) return empty(301, { ...headers, location });
    return conditional(request, body, {
      ...headers,
      'cache-control': 'public, immutable',
      expires: new Date(this.#options.clock.now() + yearMs).toUTCString().replace('GMT', 'UTC'),
    });
  }

  #read(): Promise<Builtin> {
    this.#builtin ??= readBuiltinDocuments().then((documents) => ({
      ...documents,
      texts: readCustomTexts(documents.sample),
    }));
    return this.#builtin;
  }

  #encoded(document: OpenApiDocument): Promise<Uint8Array> {
    const known = this.#protobuf.get(document);
    if (known !== undefined) return known;
    const made = this.#encode(document.body);
    this.#protobuf.set(document, made);
    made.catch(() => this.#protobuf.delete(document));
    return made;
  }

  async #encode(body: string | Uint8Array): Promise<Uint8Array> {
    if (body.length < longDocument) return encodeOpenApiV3(parseDocument([body]));
    const text = typeof body === 'string' ? body : Buffer.from(body).toString();
    return this.#options.offload.run({ type: 'openApiDocument', text });
  }

  /** Custom resources that are served, by the path of their document. */
  #custom(): Map<string, CustomVersion[]> {
    const { registry, crd: find } = this.#options;
    const byPath = new Map<string, CustomVersion[]>();
    for (const definition of registry.list()) {
      const crd = definition.isCustom ? find(`${definition.plural}.${definition.group}`) : undefined;
      if (crd === undefined) continue;
      const path = pathOf(definition.group, definition.version);
      const versions = byPath.get(path);
      if (versions === undefined) byPath.set(path, [{ definition, crd }]);
      else versions.push({ definition, crd });
    }
    return byPath;
  }

  async #document(path: string): Promise<OpenApiDocument | undefined> {
    const { v3 } = await this.#read();
    const builtin = v3.get(path);
    if (builtin !== undefined) return builtin;
    const versions = this.#custom().get(path);
    return versions === undefined ? undefined : this.#customDocument(path, versions);
  }

  async #customDocument(path: string, versions: readonly CustomVersion[]): Promise<OpenApiDocument> {
    const { texts } = await this.#read();
    const fragments: Fragment[] = [];
    for (const version of versions) fragments.push(await this.#fragment(version, texts));
    const known = this.#documents.get(path);
    if (known?.of.length === fragments.length && known.of.every((fragment, index) => fragment === fragments[index]))
      return known.document;
    await nextTurn();
    const document = await joined(customDocument(fragments, texts));
    this.#documents.set(path, { of: fragments, document });
    return document;
  }

  #fragment({ definition, crd }: CustomVersion, texts: CustomTexts): Promise<Fragment> {
    const { version } = definition;
    return remembered(this.#fragments, { definition, crd }, () =>
      crd.textLength < longText
        ? fragmentV3(definition, crd.object, texts)
        : this.#options.offload.run({ type: 'openApiV3', crd: crd.text, version }),
    );
  }

  #fragmentV2({ definition, crd }: CustomVersion, texts: CustomTexts): Promise<FragmentV2> {
    const { version } = definition;
    return remembered(this.#fragmentsV2, { definition, crd }, () =>
      crd.textLength < longText
        ? fragmentV2(definition, crd.object, texts)
        : this.#options.offload.run({ type: 'openApiV2', crd: crd.text, version }),
    );
  }

  async #index(): Promise<Reply> {
    const { v3 } = await this.#read();
    const hashes = new Map([...v3].map(([path, { hash }]) => [path, hash]));
    const custom = this.#custom();
    for (const path of this.#documents.keys()) if (!custom.has(path)) this.#documents.delete(path);
    for (const [path, versions] of custom)
      if (!hashes.has(path)) hashes.set(path, (await this.#customDocument(path, versions)).hash);
    const paths = Object.fromEntries(
      [...hashes].map(([path, hash]) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]),
    );
    // As upstream, which leaves the type to Go's file server.
    return {
      status: 200,
      headers: { ...commonHeaders, 'content-type': 'text/plain; charset=utf-8' },
      body: jsonText({ paths }),
    };
  }

  async #answerV2(request: ApiRequest): Promise<Reply> {
    const type = negotiateType(request.header('accept'), v2Types);
    if (type === undefined) return empty(406, { vary: 'Accept' });
    const { v2, texts } = await this.#read();
    const fragments: FragmentV2[] = [];
    for (const versions of this.#custom().values())
      for (const version of versions) fragments.push(await this.#fragmentV2(version, texts));
    const paths = fragments.flatMap((fragment) => [',', fragment.paths]);
    const definitions = fragments.flatMap((fragment) => [',', fragment.definitions]);
    const parts = [v2.paths, ...paths, v2.definitions, ...definitions, v2.end];
    await nextTurn();
    const { body: document, hash } = await joined(parts);
    const headers = { 'content-type': type, etag: JSON.stringify(hash), vary: 'Accept' };
    if (type === jsonType) return conditional(request, document, headers);
    await nextTurn();
    this.#builtinParts ??= encodePartsV2(parseDocument([v2.paths, v2.definitions, v2.end]));
    const body = joinPartsV2([await this.#builtinParts, ...fragments.map(({ protobuf }) => protobuf)]);
    return conditional(request, body, headers);
  }
}

function parseDocument(parts: readonly (string | Uint8Array)[]): JsonObject {
  return objectOf(JSON.parse(Buffer.concat(parts.map((part) => Buffer.from(part))).toString()));
}

/** The fragment of a version, made once for each state of its definition; others are served between two of them. */
async function remembered<T>(
  known: Remembered<T>,
  { definition: { version }, crd: { object } }: CustomVersion,
  make: () => T | Promise<T>,
): Promise<T> {
  const byVersion = known.get(object) ?? new Map<string, Promise<T>>();
  known.set(object, byVersion);
  const present = byVersion.get(version);
  if (present !== undefined) return present;
  const made = nextTurn().then(make);
  byVersion.set(version, made);
  made.catch(() => byVersion.delete(version));
  return made;
}

/** The body, or that the client has it. */
function conditional(request: ApiRequest, body: string | Uint8Array, headers: Readonly<Record<string, string>>): Reply {
  const { etag = '', ...others } = headers;
  const known = (request.header('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  const { 'content-type': _type, ...bare } = others;
  if (known.includes(etag) || known.includes('*')) return empty(304, { ...bare, etag });
  return { status: 200, headers: { ...commonHeaders, ...headers }, body };
}

/** Makes the documents of a server; nothing is read before the first request. */
export function createOpenApi(options: OpenApiOptions): OpenApi {
  return new OpenApiDocuments(options);
}
