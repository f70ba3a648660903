import type { KubeObject } from '@kctl/apimachinery';
import type { Logger } from '@kctl/telemetry';

/** Context of a converter besides the object. */
export interface ConversionContext {
  /** Aborted when the API server hangs up or its timeout has passed. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/**
 * Converts an object to another served version of its kind, and returns a new object with `apiVersion` set. It may
 * change labels and annotations, nothing else of the metadata. `hubSpokeConverter` makes one of a pair of functions per
 * version.
 */
export type Converter = (
  object: KubeObject,
  desiredApiVersion: string,
  context?: ConversionContext,
) => KubeObject | Promise<KubeObject>;

/** A converter that states which versions of which kind it converts. */
export type KindConverter = Converter & {
  readonly group: string;
  readonly kind: string;
  /** Versions that it converts from and to, in no order. */
  readonly versions: readonly string[];
};

/** Reports whether a converter states which versions it converts. */
export function isKindConverter(converter: Converter): converter is KindConverter {
  if (typeof converter !== 'function')
    throw new TypeError(
      `the converter is ${converter === null ? 'null' : typeof converter}: expected a function, such as hubSpokeConverter returns`,
    );
  return 'versions' in converter && 'group' in converter && 'kind' in converter;
}

/**
 * Returns the versions of a kind that a converter does not cover, as one sentence; undefined if it covers all, or does
 * not state its versions. The versions are those of the CRD, that is, each served or stored one.
 */
export function uncoveredVersions(converter: Converter, versions: readonly string[]): string | undefined {
  if (!isKindConverter(converter)) return undefined;
  const missing = versions.filter((version) => !converter.versions.includes(version));
  if (missing.length === 0) return undefined;
  return `the converter of ${converter.kind} in group ${JSON.stringify(converter.group)} does not convert version ${missing.join(', ')}: it has ${[...converter.versions].sort().join(', ')}`;
}
