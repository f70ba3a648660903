import { notAcceptable } from '../registry/status.js';
import { noRepresentation } from '../server/statuses.js';

/** Shapes that a client can ask an object or list to be shown as. */
export type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

/** What a client accepts. */
export interface Negotiated {
  readonly mediaType: 'application/json' | 'application/yaml';
  readonly transform?: Transform;
  /** Parameters of the clause that won. */
  readonly parameters: Readonly<Record<string, string>>;
}

const acceptedTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
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

function mediaTypeOf(type: string): Negotiated['mediaType'] | undefined {
  if (type === 'application/json' || type === '*/*') return 'application/json';
  return type === 'application/yaml' ? type : undefined;
}

function isTransform(as: string): as is Transform {
  return transforms.has(as);
}

/**
 * The first clause of an Accept header that can be served.
 *
 * @throws StatusError 406 naming what is served; built-ins and custom resources say it differently
 */
export function negotiate(accept: string | undefined, isCustom = false): Negotiated {
  if (accept === undefined || accept.trim() === '') return { mediaType: 'application/json', parameters: {} };
  let isTypeServed = false;
  for (const { type, parameters } of parseAccept(accept)) {
    const mediaType = mediaTypeOf(type);
    if (mediaType === undefined) continue;
    isTypeServed = true;
    const { as, g, v } = parameters;
    if (as === undefined) return { mediaType, parameters };
    if (g === 'meta.k8s.io' && v === 'v1' && isTransform(as)) return { mediaType, transform: as, parameters };
  }
  if (isTypeServed || isCustom) throw notAcceptable(acceptedTypes);
  throw noRepresentation(acceptedTypes);
}
