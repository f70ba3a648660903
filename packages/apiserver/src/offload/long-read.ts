import type { Status } from '@kctl/apimachinery';
import type { AskedCall, CallOutcome } from './long-write.js';
import type { LongContent } from '../storage/long-object.js';

/** A CustomResourceDefinition as text. */
export interface DefinitionText {
  readonly name: string;
  readonly text: string;
}

/** Stored objects that another thread reads in a served version: pruned, defaulted, and converted. */
export interface LongRead {
  readonly type: 'read';
  readonly crd: DefinitionText;
  readonly version: string;
  /** The objects in storage form, JSON. */
  readonly texts: readonly string[];
  readonly seed: number;
  /** What the conversion webhook has answered. */
  readonly outcomes: readonly CallOutcome[];
}

/** An object as it is read: a long one with its text, a short one as its text alone; neither where it is as it is stored. */
export interface ReadObject {
  readonly long?: LongContent;
  readonly text?: string;
  /** What field selectors look at. */
  readonly fields: Readonly<Record<string, string>>;
}

/** What came of a {@link LongRead}. */
export type LongReadResult =
  | { readonly type: 'read'; readonly objects: readonly ReadObject[] }
  /** It begins again with the answers of the webhook. */
  | { readonly type: 'asks'; readonly calls: readonly AskedCall[] }
  | { readonly type: 'failed'; readonly status: Status };
