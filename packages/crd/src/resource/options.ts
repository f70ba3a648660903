import type { KindScope } from '@kctl/apimachinery';
import type { Marker } from '../markers/markers.js';
import type { SchemaValue } from '../source/schema-value.js';
import type { FieldSetting } from '../structural/field-settings.js';

/** A column of `kubectl get`. */
export interface PrintColumn {
  readonly name: string;
  /** A JSON path below the object: `.spec.replicas`. */
  readonly path: string;
  /** @default the type in the schema at the path; `date` for a date-time */
  readonly type?: 'boolean' | 'date' | 'integer' | 'number' | 'string';
  readonly format?: string;
  readonly description?: string;
  /** Above 0: shown by `-o wide` alone. @default 0 */
  readonly priority?: number;
}

/** The scale subresource, which `kubectl scale` and autoscalers read and write. */
export interface ScaleOptions {
  /** A JSON path below `.spec`. */
  readonly specReplicasPath: string;
  /** A JSON path below `.status`. */
  readonly statusReplicasPath: string;
  /** A JSON path to a label selector in its string form. */
  readonly labelSelectorPath?: string;
}

/** One version of a resource. Either `spec` (with `status`), or `schema` for the whole object. */
export interface VersionOptions {
  /** Schema of `spec`, which is required then. */
  readonly spec?: SchemaValue;
  /** Schema of `status`, which is optional. */
  readonly status?: SchemaValue;
  /** Schema of the object: `spec`, `status` and any field beside them. */
  readonly schema?: SchemaValue;
  /** Whether objects are stored in this version; exactly one version is. @default true if there is one version */
  readonly storage?: boolean;
  /** Whether the API server serves it. @default true */
  readonly served?: boolean;
  /** Whether the definition leaves the version out. It keeps its kind token and its validation. @default false */
  readonly skip?: boolean;
  /** Whether clients are warned; a string is the warning. @default false */
  readonly deprecated?: boolean | string;
  /** Rules and other markers of the whole object. */
  readonly rules?: readonly Marker[];
  /**
   * Markers, or a schema, of fields by path, for properties that a library cannot express. `spec.parts[].name` is a
   * field of the items of a list, `spec.limits{}` the values of a map.
   */
  readonly fields?: Readonly<Record<string, FieldSetting>>;
  readonly printColumns?: readonly PrintColumn[];
  /** JSON paths that field selectors can name: `.spec.color`. At most 8. */
  readonly selectableFields?: readonly string[];
  /** Whether status is a subresource, written apart from the rest. @default whether there is a status */
  readonly statusSubresource?: boolean;
  readonly scale?: ScaleOptions;
  /** Description of the kind in this version. */
  readonly description?: string;
}

/** Options for {@link defineResource}. */
export interface ResourceOptions<V extends Readonly<Record<string, VersionOptions>>, S extends KindScope> {
  /** A domain with at least one dot: `shop.example.com`. */
  readonly group: string;
  readonly kind: string;
  /** @default 'Namespaced' */
  readonly scope?: S;
  /** @default the lower-cased kind with an English plural ending */
  readonly plural?: string;
  /** @default the lower-cased kind */
  readonly singular?: string;
  /** @default the kind with `List` */
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  /** Groups of resources for `kubectl get`: `all`. */
  readonly categories?: readonly string[];
  /** Labels of the CustomResourceDefinition. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Annotations of the CustomResourceDefinition. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** How versions are converted, as in `spec.conversion`. @default none, so versions differ only by name */
  readonly conversion?: Readonly<Record<string, unknown>>;
  /** Descriptions are cut to so many characters; 0 leaves them out. @default no limit */
  readonly maxDescriptionLength?: number;
  /**
   * Schema of an embedded template's metadata. `kept` names labels, annotations, finalizers, name and namespace, so
   * that the API server keeps them; `pruned` leaves them out, as controller-gen does by default, and the API server
   * drops its content.
   *
   * @default 'kept'
   */
  readonly embeddedMetadata?: 'kept' | 'pruned';
  /** The versions by name, in any order. */
  readonly versions: V;
}
