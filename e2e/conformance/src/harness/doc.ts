/**
 * What a server answers. Each case asserts the shape that it relies on, so the parts that differ by kind are untyped.
 */

export type Json = any;

export interface Meta {
  name: string;
  generateName?: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: Json[];
  managedFields?: Json[];
  continue?: string;
  remainingItemCount?: number;
  selfLink?: string;
}

/** Any document of the API: an object, a list, a Status, a Table. */
export interface Doc {
  apiVersion: string;
  kind: string;
  metadata: Meta;
  spec: Json;
  status: Json;
  data: Record<string, string>;
  items: Doc[];
  code: number;
  reason: string;
  message: string;
  details: Json;
  [field: string]: Json;
}

export interface WatchEvent {
  type: string;
  object: Doc;
}

/** An object as a case writes it. */
export interface Draft {
  apiVersion?: string;
  kind?: string;
  metadata?: Record<string, unknown>;
  [field: string]: unknown;
}
