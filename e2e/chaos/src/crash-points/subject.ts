import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import type { DeepReadonly, NamespacedKey } from '@kctl/apimachinery';
import type { Client, Kind, ReconcileFunction } from '@kctl/runtime';
import type { FakeClock } from '@kctl/wait/testing';
import type { Directory } from '@kctl/example-application-operator/directory.js';

/** What a reconciler acts on, and what survives its crash. */
export interface World {
  /** Sees and writes all; never fails. */
  readonly client: Client;
  /** Outside of the cluster. */
  readonly directory: Map<string, string>;
  readonly clock: FakeClock;
}

/** What one incarnation of a reconciler is given. */
export interface Incarnation {
  readonly client: Client;
  readonly directory: Directory;
  readonly clock: FakeClock;
}

/** Something that happens to an object, after which the reconciler has work. */
export interface Flow {
  readonly name: string;
  /** Leads to where the flow begins; the reconciler then runs until nothing is left to do. @default an empty cluster */
  readonly prepare?: (world: World) => Promise<void>;
  /** What happens. */
  readonly change: (world: World) => Promise<unknown>;
  /** Whether everything must be gone in the end. @default false */
  readonly leavesNothing?: boolean;
}

/** A reconciler to explore. */
export interface Subject {
  readonly name: string;
  readonly crd: DeepReadonly<CustomResourceDefinition>;
  readonly request: NamespacedKey;
  /** Whose objects make up the state that is compared. */
  readonly kinds: readonly Kind[];
  readonly flows: readonly Flow[];
  /** A reconciler that remembers nothing. */
  start(incarnation: Incarnation): ReconcileFunction<NamespacedKey>;
}
