import type { Kind, ObjectKey } from '@kctl/apimachinery';
import type { ApplyFields, ReadObject } from '@kctl/client';
import type { ObjectOf } from '@kctl/apimachinery';
import type { NotYet } from './not-yet.js';

/** Options of `dependents`. */
export interface DependentsOptions {
  /** The name under which the server records fields of the children, e.g. `webapp.example.com`. */
  readonly fieldOwner: string;
  /** Names under which earlier versions of the operator wrote, by apply or update; what they hold moves. @default none */
  readonly formerFieldOwners?: readonly string[];
  /** Maximum number of children of one primary that are worked on at the same time. @default 4 */
  readonly concurrency?: number;
}

/** The desired fields of a child. Name, namespace, owner and the labels of this package are added. */
export type DesiredFields<K extends Kind> = ApplyFields<ObjectOf<K>>;

/** How an object is deleted before it is created again. `orphanPods` keeps what the object owns, such as Pods. */
export type RecreatePolicy = 'background' | 'foreground' | 'orphanPods';

/** Result of {@link ChildOptions.ready} with the reason. */
export interface ReadyReport {
  readonly ready: boolean;
  /** CamelCase, for programs. */
  readonly reason?: string;
  /** For people. */
  readonly message?: string;
  /** Handed on in {@link NodeResult.data}. */
  readonly data?: unknown;
}

/** Options that `child` and `set` have in common. */
export interface CommonChildOptions<P extends Kind, K extends Kind> {
  /** The namespace of the object. @default the primary's */
  readonly namespace?: (primary: ReadObject<P>) => string;
  /**
   * Holds back a node whose needs are not met: `create` delays the creation, and still updates an object that exists if
   * all objects that it needs exist; `always` holds updates back, too.
   *
   * @default 'create'
   */
  readonly gate?: 'create' | 'always';
  /**
   * Whether the object is ready; a string is the reason why it is not.
   *
   * @default `readiness` of @kctl/client, which knows the built-in kinds and the usual conditions
   */
  readonly ready?: (object: ReadObject<K>) => boolean | string | ReadyReport;
  /** Treatment of fields that another manager owns with another value. @default 'force' */
  readonly conflicts?: 'force' | 'report';
  /** Treatment of a change that the server refuses because a field is immutable. @default 'fail' */
  readonly onImmutable?: 'fail' | { readonly recreate: RecreatePolicy };
  /**
   * Treatment of an object that is no longer wanted, also at the deletion of the primary. `orphan` leaves it, without
   * owner reference and labels of this package.
   *
   * @default 'delete'
   */
  readonly onDelete?: 'delete' | 'orphan';
  /** Whether the kind may be missing on the server; the node is skipped meanwhile. @default false */
  readonly optionalKind?: boolean;
}

/** Options of `child`. */
export interface ChildOptions<P extends Kind, K extends Kind, Needed> extends CommonChildOptions<P, K> {
  /** The desired fields, computed from the arguments alone. Called at most once in a run. */
  readonly desired: (primary: ReadObject<P>, needed: Needed) => DesiredFields<K> | NotYet;
  /** The name of the object. @default `<primary>-<node>`, shortened with a hash, see `childName` of @kctl/apimachinery */
  readonly name?: (primary: ReadObject<P>) => string;
  /** Fields that are set at the creation and then left to others, such as `spec.replicas` for an autoscaler. */
  readonly initial?: (primary: ReadObject<P>) => DesiredFields<K>;
  /** Whether an object of this name that is not ours becomes ours. One with another controller never does. @default 'never' */
  readonly adopt?: 'never' | 'unowned' | ((found: ReadObject<K>) => boolean);
}

/** Options of `set`. */
export interface SetOptions<P extends Kind, K extends Kind, Item, Needed> extends CommonChildOptions<P, K> {
  /** The items by id. An id that leaves the map has its object deleted; the order does not matter. */
  readonly each: (primary: ReadObject<P>) => ReadonlyMap<string, Item>;
  /** The desired fields of one item. */
  readonly desired: (primary: ReadObject<P>, item: Item, needed: Needed) => DesiredFields<K> | NotYet;
  /** The name of the object of an item. @default `<primary>-<node>-<id>`, shortened with a hash */
  readonly name?: (primary: ReadObject<P>, item: Item, id: string) => string;
  /** Fields that are set at the creation and then left to others. */
  readonly initial?: (primary: ReadObject<P>, item: Item) => DesiredFields<K>;
}

/** Options of `ref`. */
export interface RefOptions<P extends Kind> {
  /** The key of the object; undefined if the primary names none, which counts as an object that does not exist. */
  readonly key: (primary: ReadObject<P>) => ObjectKey | undefined;
}

/** The edges of a node, which are names of nodes declared before it. */
export interface Edges<Needs extends string, Ready extends string> {
  /** Nodes whose objects must exist. They are arguments of `desired`. */
  readonly needs?: readonly Needs[];
  /** Nodes whose objects must be ready. They are arguments of `desired`. */
  readonly needsReady?: readonly Ready[];
}
