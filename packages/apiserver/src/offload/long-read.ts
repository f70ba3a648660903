import type { Status } from '@kctl/apimachinery';
import type { AskedCall, CallOutcome } from './long-write.js';
import type { LongContent } from '../storage/long-object.js';

/** A CustomResourceDefinition as JSON. */
export interface DefinitionText {
  readonly name: string;
  readonly text: string;
}

/** Stored objects that another thread reads in a served version, which means pruned, defaulted, and converted. */
export interface LongRead {
  readonly type: 'read';
  readonly crd: DefinitionText;
  readonly version: string;
  /** The objects in storage form, JSON. */
  readonly texts: readonly string[];
  readonly seed: number;
  /** Answers of the conversion webhook. */
  readonly outcomes: readonly CallOutcome[];
}

/** An object as it is read, as content for a long one and as JSON for a short one; neither if it is as it is stored. */
export interface ReadObject {
  readonly long?: LongContent;
  readonly text?: string;
  /** Fields for selectors. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Result of a {@link LongRead}. */
export type LongReadResult =
  | { readonly type: 'read'; readonly objects: readonly ReadObject[] }
  /** It begins again with the answers of the webhook. */
  | { readonly type: 'asks'; readonly calls: readonly AskedCall[] }
  | { readonly type: 'failed'; readonly status: Status };
