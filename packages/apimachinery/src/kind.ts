import { requireRecord } from './arguments/require-arguments.js';

import type {
  DeepReadonly,
  KubeObject,
  ObjectMeta,
  PartialObjectMetadata,
  PersistedIdentity,
  Stripped,
  UntypedObject,
  WholeObject,
} from './object.js';

/** Whether objects of a kind live in a namespace or in the cluster. */
export type KindScope = 'Namespaced' | 'Cluster';

/**
 * The part of an object that a kind token stands for, which is the whole typed object, the whole object without a
 * compile-time type, the result of a cache's transform, or its metadata alone.
 */
export type KindShape = 'full' | 'untyped' | 'stripped' | 'metadata';

/** Group, version and kind. The core group is ''. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Group, version and resource (the lower-case plural of the URL). */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

declare const objectType: unique symbol;
declare const inputType: unique symbol;

/**
 * A kind as a value. Go expresses it by type, TypeScript by token. `client.get(Pod, key)` returns a `Pod`. Two tokens
 * with the same group, version, kind and shape are the same kind; identity does not matter. Tokens are frozen.
 *
 * @example
 * ```ts
 * import type { Kind } from '@kctl/apimachinery';
 * import { ConfigMap, Pod } from '@kctl/apimachinery/kinds/core/v1';
 *
 * for (const kind of [Pod, ConfigMap] satisfies Kind[]) console.log(kind.kind, (await client.list(kind)).items.length);
 * ```
 */
export interface Kind<T extends KubeObject = KubeObject, S extends KindScope = KindScope> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The resource name in URLs, which is a lower-case plural. */
  readonly plural: string;
  readonly scope: S;
  readonly shape: KindShape;
  /** `group/version`, or `version` for the core group. The value of `apiVersion`. */
  readonly apiVersion: string;
  /** Carries the object type; never present at run time. */
  readonly [objectType]?: T;
}

/** The object type of a kind token: `ObjectOf<typeof Pod>` is `Pod`. */
export type ObjectOf<K> = K extends Kind<infer T, infer _S> ? T : never;

/**
 * A kind whose objects may lack, on creation, the fields that the server fills in because their schema has a default.
 */
export interface KindWithInput<I> {
  /** Carries the type of an object to make; never present at run time. */
  readonly [inputType]?: I;
}

/**
 * An object of a kind as a caller may make it: {@link ObjectOf}, or of a {@link KindWithInput} one without the fields that have a
 * default.
 */
export type InputOf<K extends Kind> =
  | DeepReadonly<ObjectOf<K>>
  | (K extends KindWithInput<infer I> ? (unknown extends I ? never : DeepReadonly<I>) : never);

/** A mutable {@link InputOf}, which a caller fills in before the object is written. */
export type DraftOf<K extends Kind> =
  K extends KindWithInput<infer I> ? (unknown extends I ? ObjectOf<K> : I) : ObjectOf<K>;

/**
 * The metadata of an object of a kind of this scope once the server has stored it, with a namespace if it is
 * namespaced.
 */
export interface Persisted<S extends KindScope = KindScope> {
  metadata: PersistedIdentity & ([S] extends ['Namespaced'] ? { namespace: string } : unknown);
}

/**
 * An object of a kind as it was read. `name`, `uid`, `resourceVersion` and, if the kind is namespaced, `namespace` are
 * present by type. {@link ObjectOf} is an object built by a caller, which has no uid before it is created.
 *
 * Kinds that the server answers without storing anything (`TokenReview`, `SubjectAccessReview`) have none of these.
 */
export type PersistedObject<K extends Kind> = ObjectOf<K> & Persisted<K['scope']>;

/**
 * `T` as a caller may build it, without the fields that the server sets. Functions that accept both read and newly
 * built objects take this form of a type that includes {@link Persisted}.
 */
export type Unread<T> = T extends { readonly metadata: DeepReadonly<ObjectMeta> }
  ? Omit<T, 'metadata'> & { metadata: ObjectMeta }
  : T;

/** Input of {@link defineKind}. */
export interface DefineKindOptions<S extends KindScope> {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** @default the lower-cased kind with an English plural ending */
  readonly plural?: string;
  readonly scope: S;
}

/** The metadata-only form of a kind. */
export type MetadataKind<K extends Kind> = Kind<PartialObjectMetadata, K['scope']>;

/** The stripped form of a kind. */
export type StrippedKind<K extends Kind = Kind> = Kind<Stripped<ObjectOf<K>>, K['scope']> & {
  readonly shape: 'stripped';
};

/** A kind whose objects may replace what is on the server. */
export type WholeKind = Kind<KubeObject & WholeObject>;

/** The untyped form of a kind. */
export type UntypedKind<K extends Kind> = Kind<UntypedObject, K['scope']>;

/**
 * Makes a kind token, for a custom resource or any other kind.
 *
 * @throws TypeError naming the field when a group, version, kind, plural or scope is not well-formed
 *
 * @example
 * ```ts
 * import { defineKind, type KubeObject } from '@kctl/apimachinery';
 *
 * interface Website extends KubeObject {
 *   spec: { host: string };
 *   status?: { url?: string };
 * }
 * export const Website = defineKind<Website>()({
 *   group: 'example.com',
 *   version: 'v1',
 *   kind: 'Website',
 *   scope: 'Namespaced',
 * });
 * ```
 */
export function defineKind<T extends KubeObject = UntypedObject>(): <const S extends KindScope>(
  options: DefineKindOptions<S>,
) => Kind<T, S>;
export function defineKind<T extends KubeObject = UntypedObject, const S extends KindScope = KindScope>(
  options: DefineKindOptions<S>,
): Kind<T, S>;
export function defineKind(
  options?: DefineKindOptions<KindScope>,
): Kind | ((options: DefineKindOptions<KindScope>) => Kind) {
  return options === undefined ? (later) => makeKind(later, 'full') : makeKind(options, 'full');
}

/**
 * The metadata-only form of a kind. Reads cost less, and `.spec` does not compile.
 *
 * @example
 * ```ts
 * import { metadataOnly } from '@kctl/apimachinery';
 * import { Secret } from '@kctl/apimachinery/kinds/core/v1';
 *
 * const { items } = await client.list(metadataOnly(Secret), { namespace: 'shop' });
 * console.log(items.map(({ metadata }) => metadata.name)); // .data does not compile
 * ```
 */
export function metadataOnly<K extends Kind>(kind: K): MetadataKind<K> {
  return reshape(kind, 'metadata');
}

/**
 * The form of a kind held by a cache that transforms its objects. Reads of this token come from that cache, and their
 * results cannot be written back whole. Reads of `kind` itself come from the server.
 *
 * @example
 * ```ts
 * import { stripped } from '@kctl/apimachinery';
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 *
 * const SmallPod = stripped(Pod); // what a cache holds that drops fields
 * const { items } = await manager.client.list(SmallPod, { namespace: 'shop' });
 * ```
 */
export function stripped<K extends Kind>(kind: K): StrippedKind<K>;
export function stripped(kind: Kind): StrippedKind {
  return Object.freeze({ ...reshape(kind, 'stripped'), shape: 'stripped' });
}

/**
 * The untyped form of a kind, in which every field is `unknown`.
 *
 * @example
 * ```ts
 * import { untyped } from '@kctl/apimachinery';
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 *
 * const found = await client.get(untyped(Pod), { namespace: 'shop', name: 'web-0' });
 * console.log(found['spec']); // unknown
 * ```
 */
export function untyped<K extends Kind>(kind: K): UntypedKind<K> {
  return reshape(kind, 'untyped');
}

/** Whether two tokens name the same group, version and kind, whatever their shape. */
export function isSameKind(a: GroupVersionKind, b: GroupVersionKind): boolean {
  return a.kind === b.kind && a.group === b.group && a.version === b.version;
}

/** `Deployment.apps`, or `Pod` for the core group, as controller-runtime prints a GroupKind. */
export function formatGroupKind(kind: { readonly group: string; readonly kind: string }): string {
  return kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
}

/** `apps/v1, Kind=Deployment`: how Go prints a GroupVersionKind. */
export function formatGroupVersionKind(kind: GroupVersionKind): string {
  return `${kind.group === '' ? '' : `${kind.group}/`}${kind.version}, Kind=${kind.kind}`;
}

/** `deployments.apps`, or `pods` for the core group, as error messages print a GroupResource. */
export function formatGroupResource(resource: { readonly group: string; readonly resource: string } | Kind): string {
  const name = 'resource' in resource ? resource.resource : resource.plural;
  return resource.group === '' ? name : `${name}.${resource.group}`;
}

/** Splits an `apiVersion`: `apps/v1` → group `apps`, version `v1`; `v1` → group '', version `v1`. */
export function parseApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/**
 * The group of an `apiVersion`, '' for the core group; undefined for a string that is not an apiVersion, such as
 * `a/b/c`, and for anything that is not a string. A malformed apiVersion has no group and matches nothing.
 */
export function groupOfApiVersion(apiVersion: unknown): string | undefined {
  if (typeof apiVersion !== 'string' || apiVersion === '') return undefined;
  const [first = '', second, ...rest] = apiVersion.split('/');
  if (rest.length > 0 || first === '' || second === '') return undefined;
  return second === undefined ? '' : first;
}

/** Joins group and version to what stands in `apiVersion`. */
export function formatApiVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The token carries its object type in a property that never exists, so the copy leaves it out by naming the rest. */
function reshape<S extends KindScope>(
  kind: Kind<KubeObject, S>,
  shape: KindShape,
): Omit<Kind<KubeObject, S>, typeof objectType> {
  requireRecord('kind', 'kind', kind, 'a kind, such as those of defineKind(…)');
  const { group, version, plural, scope, apiVersion } = kind;
  // Requests need more than a group, version and kind, and nothing here knows a server.
  if (typeof plural !== 'string' || typeof apiVersion !== 'string')
    throw new TypeError(
      `kind: ${formatGroupVersionKind(kind)} has no plural and scope: pass a kind of @kctl/apimachinery/kinds, or defineKind()({ group, version, kind, scope })`,
    );
  return Object.freeze({ group, version, kind: kind.kind, plural, scope, shape, apiVersion });
}

// The rules of the API server for the names of a CustomResourceDefinition (compared on kube-apiserver 1.36.3).
const dnsLabel = /^(?=.{1,63}$)[a-z]([-a-z0-9]*[a-z0-9])?$/;
const kindName = /^(?=.{1,63}$)[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$/;
const groupName = /^$|^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const scopeName = /^(Namespaced|Cluster)$/;

function makeKind(options: DefineKindOptions<KindScope>, shape: KindShape): Kind {
  requireRecord('defineKind', 'definition', options, '{ group, version, kind }');
  const { group, version, kind, scope } = options;
  requireMatch('group', group, groupName, "'' or a DNS subdomain such as apps or example.com");
  requireMatch('version', version, dnsLabel, 'a DNS label of at most 63 characters such as v1 or v1beta1');
  requireMatch(
    'kind',
    kind,
    kindName,
    'a letter, then letters, digits and "-", at most 63 characters, such as Deployment',
  );
  requireMatch('scope', scope, scopeName, 'Namespaced or Cluster');
  const plural = options.plural ?? defaultPlural(kind);
  requireMatch('plural', plural, dnsLabel, 'a DNS label of at most 63 characters such as deployments');
  return Object.freeze({ group, version, kind, plural, scope, shape, apiVersion: formatApiVersion(group, version) });
}

function requireMatch(field: string, value: unknown, pattern: RegExp, expected: string): void {
  if (typeof value === 'string' && pattern.test(value)) return;
  throw new TypeError(`defineKind: ${field} ${JSON.stringify(value)} is not valid: expected ${expected}`);
}

/** Mirrors `meta.UnsafeGuessKindToResource`. */
function defaultPlural(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular.endsWith('endpoints')) return singular;
  if (singular.endsWith('s')) return `${singular}es`;
  if (singular.endsWith('y')) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}
