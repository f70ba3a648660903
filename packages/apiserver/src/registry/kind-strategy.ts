import type { UntypedObject } from '@kctl/apimachinery';
import type { FieldError, NameRule } from '@kctl/crd/internal/engine';
import type { ObjectView, UpdateStrategy, WriteContext } from '../resource/resource.js';

/** When an update counts the generation up. */
export type GenerationRule =
  /** Never, and none is set. */
  | 'none'
  /** Never; it is 1 from the start. */
  | 'once'
  /** On any change of the spec. */
  | 'spec'
  /** On any change but of metadata and status, for kinds without a spec. */
  | 'content'
  /** On a change of the spec or of annotations: Deployment. */
  | 'spec-or-annotations';

/**
 * Behaviour particular to a built-in kind. All of it is optional, because the generic behaviour is right for most
 * kinds.
 */
export interface KindStrategy {
  readonly nameRule?: NameRule;
  readonly generation?: GenerationRule;
  readonly allowCreateOnUpdate?: boolean;
  readonly allowUnconditionalUpdate?: boolean;
  /** Whether a create keeps the status that the client sent. Without a status subresource it is kept always. */
  readonly keepsStatusOnCreate?: boolean;
  /** Storage shared with another kind, e.g. of events.k8s.io. */
  readonly storage?: {
    readonly key: string;
    readonly apiVersion: string;
    readonly toStorage: (object: UntypedObject) => UntypedObject;
    readonly fromStorage: (object: UntypedObject) => UntypedObject;
  };
  /** A stored object as it is read; itself if that is the same. */
  read?(stored: UntypedObject): UntypedObject;
  /** Fills in defaults after decoding, in place. */
  default?(object: UntypedObject): void;
  /**
   * Changes of upstream's own admission plugins to a create or an update (`old` is present) before webhooks are called.
   */
  admit?(object: UntypedObject, old: UntypedObject | undefined, context: WriteContext): void;
  /** Fills in what follows from the name, after one was generated, too. */
  canonicalize?(object: UntypedObject): void;
  prepareForCreate?(object: UntypedObject, context: WriteContext): void;
  prepareForUpdate?(object: UntypedObject, old: UntypedObject, context: WriteContext): void;
  /** Errors of the object itself, metadata excepted. Runs on create and on update, which replaces `old`. */
  validate?(object: UntypedObject, context: WriteContext, old?: UntypedObject): FieldError[];
  /** Whether upstream reports what is wrong with a change before what is wrong with the object. */
  readonly reportsChangeFirst?: boolean;
  /** Whether upstream validates a changed object as if it were new, metadata included, once more. */
  readonly revalidatesMetadata?: boolean;
  /** Warnings about a valid object; `old` is there on an update. */
  warnings?(object: UntypedObject, old: UntypedObject | undefined): string[];
  /** Errors of the change. */
  validateChange?(object: UntypedObject, old: UntypedObject, context: WriteContext): FieldError[];
  /** Replaces the generic rule of the status subresource that only the status changes. */
  readonly status?: Partial<UpdateStrategy>;
  /** Whether labels that come with a status are dropped. Other metadata is taken. */
  readonly statusKeepsLabels?: boolean;
  /** Rules of further subresources that show the object itself, by name. */
  readonly subresources?: Readonly<Record<string, UpdateStrategy>>;
  readonly scale?: ObjectView;
  gracePeriodSeconds?(object: UntypedObject): number;
  deletionForbidden?(object: UntypedObject): string | undefined;
  /** Field selector labels and how their values are found. */
  readonly fields?: Readonly<Record<string, (object: UntypedObject) => string>>;
}
