import { requireKind, requireOptionsObject } from '@kctl/client/internal';
import { parseApiVersion, type Kind, type KubeObject, type ObjectOf } from '@kctl/apimachinery';
import { formatGroupKind, isJsonObject } from '@kctl/apimachinery/internal';
import { shownType } from '@kctl/options';
import { requireFunction } from '../handler/require-parts.js';
import { WebhookServerError } from '../errors.js';
import type { ConversionContext, Converter, KindConverter } from '../handler/converter.js';

/** A version of a kind that is converted by way of the hub. Made by {@link spoke}. */
export interface Spoke<H extends KubeObject = KubeObject> {
  readonly kind: Kind;
  toHub(spoke: KubeObject, context?: ConversionContext): H | Promise<H>;
  fromHub(hub: H, context?: ConversionContext): KubeObject | Promise<KubeObject>;
}

/**
 * The functions of {@link spoke}. An API server converts parts of objects, too, so any field but apiVersion, kind and
 * metadata may be missing, at every depth. Fields of these three that a result omits are filled in.
 */
export interface SpokeFunctions<H, S> {
  toHub(spoke: PartialObject<S>, context?: ConversionContext): Converted<H> | Promise<Converted<H>>;
  fromHub(hub: PartialObject<H>, context?: ConversionContext): Converted<S> | Promise<Converted<S>>;
}

/** A value of which any field may be missing, at every depth. */
export type Partially<T> = T extends readonly (infer Item)[]
  ? Partially<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]?: Partially<T[Key]> | undefined }
    : T;

/** An object of which any field but apiVersion, kind and metadata may be missing. */
export type PartialObject<T> = Partially<Omit<T, keyof KubeObject>> & Pick<T & KubeObject, keyof KubeObject>;

/** A {@link PartialObject} that may lack what every version has in common. */
export type Converted<T> = Partially<Omit<T, keyof KubeObject>> & Partial<Pick<T & KubeObject, 'metadata'>>;

/**
 * One version beside the hub, with its conversions. Mirrors `conversion.NewSpokeConverter`.
 *
 * Both functions get parts of objects, too. In a server-side apply the API server removes the fields that a manager no
 * longer applies, and converts the rest to the version of each manager, which may lack `spec`, a field that the schema
 * requires, or `metadata` (an empty one is filled in). A function converts the fields that are present and returns no
 * others; an error that it throws fails the user's apply.
 *
 * @example
 * ```ts
 * import { defineKind, type KubeObject } from '@kctl/apimachinery';
 * import { hubSpokeConverter, spoke } from '@kctl/webhook';
 *
 * interface WidgetV1 extends KubeObject {
 *   spec: { size: string };
 * }
 * interface WidgetV2 extends KubeObject {
 *   spec: { sizeCm: number };
 * }
 * const names = { group: 'example.com', kind: 'Widget', scope: 'Namespaced' } as const;
 * const V1 = defineKind<WidgetV1>()({ ...names, version: 'v1' });
 * const V2 = defineKind<WidgetV2>()({ ...names, version: 'v2' });
 *
 * const converter = hubSpokeConverter(
 *   V2,
 *   spoke(V2, V1, {
 *     toHub: ({ spec }) => (spec?.size === undefined ? {} : { spec: { sizeCm: Number(spec.size) } }),
 *     fromHub: ({ spec }) => (spec?.sizeCm === undefined ? {} : { spec: { size: String(spec.sizeCm) } }),
 *   }),
 * );
 * ```
 */
export function spoke<H extends Kind, S extends Kind>(
  hub: H,
  kind: S,
  functions: SpokeFunctions<ObjectOf<H>, ObjectOf<S>>,
): Spoke<ObjectOf<H> & KubeObject> {
  requireOptionsObject('spoke: functions', functions, 'toHub and fromHub');
  for (const member of ['toHub', 'fromHub'] as const) requireFunction(`spoke: ${member}`, functions[member]);
  return {
    kind,
    toHub: async (object, context) => {
      const converted = await functions.toHub(partOf(object), context);
      return completed(hub, object, requireResult('toHub', kind, converted)) as ObjectOf<H> & KubeObject;
    },
    fromHub: async (object, context) => {
      const converted = await functions.fromHub(partOf(object), context);
      return completed(kind, object, requireResult('fromHub', kind, converted));
    },
  };
}

/**
 * Returns a converter of any number of versions, each with one pair of functions to and from the hub. Two spokes are
 * converted by way of it. Mirrors `conversion.NewHubSpokeConverter`.
 *
 * @throws WebhookServerError when a spoke is of another group or kind, is the hub itself, or comes twice
 */
export function hubSpokeConverter<H extends Kind>(
  hub: H,
  ...spokes: readonly Spoke<ObjectOf<H> & KubeObject>[]
): KindConverter {
  requireKind('hubSpokeConverter', hub);
  for (const spoke of spokes) {
    requireOptionsObject('hubSpokeConverter: spoke', spoke, 'an object with kind and two functions');
    requireKind('hubSpokeConverter: spoke', spoke.kind);
  }
  const fail = (message: string): never => {
    throw new WebhookServerError(`failed to create hub spoke converter for ${hub.kind}: ${message}`);
  };
  const byApiVersion = new Map<string, Spoke<ObjectOf<H> & KubeObject>>();
  for (const one of spokes) {
    const { kind } = one;
    if (kind.group !== hub.group || kind.kind !== hub.kind)
      fail(`spoke converter GroupKind ${formatGroupKind(kind)} does not match hub GroupKind ${formatGroupKind(hub)}`);
    if (kind.version === hub.version) fail(`version ${kind.version} is the hub and needs no spoke converter`);
    if (byApiVersion.has(kind.apiVersion)) fail(`duplicate spoke converter for version ${kind.version}`);
    byApiVersion.set(kind.apiVersion, one);
  }
  const find = (apiVersion: string): Spoke<ObjectOf<H> & KubeObject> =>
    byApiVersion.get(apiVersion) ??
    (() => {
      const known = [hub.version, ...spokes.map(({ kind }) => kind.version)].join(', ');
      throw new WebhookServerError(
        `no conversion for version ${parseApiVersion(apiVersion).version} of ${formatGroupKind(hub)}: there are ${known}`,
      );
    })();
  const convert: Converter = async (object, desired, context) => {
    const { apiVersion = '' } = object;
    // Both are looked up first, because half a conversion is useless.
    const from = apiVersion === hub.apiVersion ? undefined : find(apiVersion);
    const to = desired === hub.apiVersion ? undefined : find(desired);
    const atHub =
      from === undefined
        ? (object as ObjectOf<H> & KubeObject)
        : requireResult('toHub', from.kind, await from.toHub(object, context));
    return to === undefined ? atHub : await to.fromHub(atHub, context);
  };
  const versions = [hub.version, ...spokes.map(({ kind }) => kind.version)];
  return Object.assign(convert, { group: hub.group, kind: hub.kind, versions });
}

/** @throws WebhookServerError for what is not an object, of which nothing would be left but the metadata */
function requireResult<T>(name: 'toHub' | 'fromHub', kind: Kind, result: T): T {
  if (isJsonObject(result)) return result;
  throw new WebhookServerError(
    `${name} of ${kind.apiVersion} returned ${shownType(result)}: expected an object with the fields of the other version`,
  );
}

/** The result with the type of its version. If it has no metadata, it keeps the source's. */
function completed(kind: Kind, source: KubeObject, result: Partial<Pick<KubeObject, 'metadata'>>): KubeObject {
  const metadata = result.metadata ?? withMetadata(source).metadata;
  return { ...result, metadata, apiVersion: kind.apiVersion, kind: kind.kind };
}

/** An object as the functions of a spoke take it, because its version was looked up by its apiVersion. */
function partOf<T>(object: KubeObject): PartialObject<T> {
  const part: unknown = withMetadata(object);
  return part as PartialObject<T>;
}

/** An object that API servers convert may have no metadata. */
function withMetadata<T extends KubeObject>(object: T): T {
  const { metadata }: Partial<KubeObject> = object;
  return metadata === undefined ? { ...object, metadata: {} } : object;
}
