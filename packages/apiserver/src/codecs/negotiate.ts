import { protobufType } from '../protobuf/envelope.js';
import { internalGroup } from '../resource/decode-head.js';
import { notAcceptable, unclassified, wrongShape } from '../protocol/status.js';
import { noRepresentation } from '../protocol/http-statuses.js';

/** Shapes that a client can request an object or list in. */
export type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

/** Media types of answers, in upstream's order. */
export type MediaType = 'application/json' | 'application/yaml' | typeof protobufType;

/** Media type and shape that a client accepts. */
export interface Negotiated {
  readonly mediaType: MediaType;
  readonly transform?: Transform;
  /** Parameters of the clause that won. */
  readonly parameters: Readonly<Record<string, string>>;
}

const acceptedTypes: readonly MediaType[] = ['application/json', 'application/yaml', protobufType];
/** Media types that a watch can be framed in. */
const streamedTypes: readonly MediaType[] = ['application/json', protobufType];
const transforms = new Set<string>(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']);

interface Clause {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The clauses of an Accept header, the most wanted first; clauses of equal weight keep their order. */
export function parseAccept(header: string): Clause[] {
  const clauses = header.split(',').map((text) => {
    const [type = '', ...rest] = text.split(';').map((part) => part.trim());
    const parameters: Record<string, string> = {};
    for (const part of rest) {
      const equals = part.indexOf('=');
      if (equals > 0) parameters[part.slice(0, equals)] = part.slice(equals + 1);
    }
    return { type: type.toLowerCase(), parameters };
  });
  const weight = ({ parameters }: Clause): number => Number(parameters['q'] ?? 1);
  return clauses.filter((clause) => weight(clause) > 0).sort((a, b) => weight(b) - weight(a));
}

function isTransform(as: string | undefined): as is Transform {
  return as !== undefined && transforms.has(as);
}

/** The media types that a clause names, in upstream's order. */
export function mediaTypesOf(type: string): readonly MediaType[] {
  if (type === '*/*' || type === 'application/*') return acceptedTypes;
  return acceptedTypes.filter((accepted) => accepted === type);
}

/** Conditions for an answer in one media type. */
interface Terms {
  /** Custom resources have no form in protobuf; their metadata alone has. */
  readonly isCustom: boolean;
  /** Whether objects are shown in other shapes here. */
  readonly hasTransforms: boolean;
}

/** Returns how a clause is served in a media type; undefined if it is not served. */
function serve({ parameters }: Clause, mediaType: MediaType, terms: Terms): Negotiated | undefined {
  const { as, g, v, stream = '' } = parameters;
  if (stream !== '' && (stream !== 'watch' || !streamedTypes.includes(mediaType))) return undefined;
  if (as === undefined && g === undefined && v === undefined)
    return terms.isCustom && mediaType === protobufType ? undefined : { mediaType, parameters };
  if (!terms.hasTransforms || g !== 'meta.k8s.io' || v !== 'v1' || !isTransform(as)) return undefined;
  return as === 'Table' && mediaType === protobufType ? undefined : { mediaType, transform: as, parameters };
}

function firstServed(accept: string, terms: Terms): Negotiated | undefined {
  for (const clause of parseAccept(accept)) {
    for (const mediaType of mediaTypesOf(clause.type)) {
      const negotiated = serve(clause, mediaType, terms);
      if (negotiated !== undefined) return negotiated;
    }
  }
  return undefined;
}

const plainJson: Negotiated = { mediaType: 'application/json', parameters: {} };

/** Whether a header requests plain JSON, as nearly all do. */
function isPlain(accept: string | undefined): accept is undefined | '' | 'application/json' {
  return accept === undefined || accept === 'application/json' || accept.trim() === '';
}

/**
 * The first clause of an Accept header that can be served. `isStreamed` allows a watch.
 *
 * @throws StatusError 406 naming the served types, with a different message for built-ins and custom resources
 */
export function negotiate(
  accept: string | undefined,
  { isCustom = false, isStreamed = false }: { readonly isCustom?: boolean; readonly isStreamed?: boolean } = {},
): Negotiated {
  if (isPlain(accept)) return plainJson;
  // Built-ins stand behind a router that knows no `application/*`.
  const isRouted = ({ type }: Clause): boolean => type === '*/*' || acceptedTypes.some((accepted) => accepted === type);
  if (!isCustom && !parseAccept(accept).some(isRouted))
    throw noRepresentation(isStreamed ? [...acceptedTypes, ...streamTypes()] : acceptedTypes);
  const negotiated = firstServed(accept, { isCustom, hasTransforms: true });
  if (negotiated === undefined) throw notAcceptable(acceptedTypes);
  return negotiated;
}

/**
 * The media type of a failure, from the first clause without a shape that can be served; JSON without such a clause.
 */
export function negotiateStatus(accept: string | undefined): Negotiated {
  if (isPlain(accept)) return plainJson;
  return firstServed(accept, { isCustom: false, hasTransforms: false }) ?? plainJson;
}

/** Checks that a watch can be framed in what was negotiated. @throws StatusError 406 */
export function requireStream({ mediaType }: Negotiated): void {
  if (!streamedTypes.includes(mediaType)) throw notAcceptable(streamTypes());
}

function streamTypes(): string[] {
  return streamedTypes.map((type) => `${type};stream=watch`);
}

/**
 * Checks that an answer has the negotiated shape, because the metadata of a list differ from those of an object.
 *
 * @throws StatusError 406
 */
export function requireTransform(
  { transform }: Negotiated,
  { isCustom, group, kind }: { readonly isCustom: boolean; readonly group: string; readonly kind: string },
  isList: boolean,
): void {
  if (transform !== (isList ? 'PartialObjectMetadata' : 'PartialObjectMetadataList')) return;
  if (isCustom && !isList) throw unclassified('content is not a list');
  const type = `${isCustom ? 'unstructured.Unstructured' : `${internalGroup(group)}.${kind}`}${isList ? 'List' : ''}`;
  throw wrongShape(`you requested ${transform}, but the requested object is ${isList ? '' : 'not '}a list (*${type})`);
}
