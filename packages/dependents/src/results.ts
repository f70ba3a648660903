import type { Condition, Kind } from '@kctl/apimachinery';
import type { ReadObject } from '@kctl/client';

/** How far a node is. */
export type NodeState =
  /** As wanted. */
  | 'ready'
  /** Applied, and not ready yet. */
  | 'progressing'
  /** Its desired state cannot be computed yet. */
  | 'waiting'
  /** It needs a node that is not there, or not ready. */
  | 'blocked'
  /** See the error, or the reason. */
  | 'failed'
  /** Its kind is optional, and missing on the server. */
  | 'skipped'
  /** No longer wanted, and on its way out. */
  | 'deleting'
  /** Not wanted, and not there. */
  | 'absent'
  /** Left alone because of the annotation `kctl.dev/paused`. */
  | 'paused';

/** Action of a run, taken or planned, on one object. */
export type NodeAction = 'none' | 'created' | 'applied' | 'recreated' | 'deleted' | 'orphaned' | 'adopted';

/** Result of a run for one object. */
export interface NodeResult<K extends Kind = Kind> {
  readonly state: NodeState;
  /** CamelCase, for programs, e.g. `NameTaken`. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
  /** When this state and reason began, in ms since 1970, as far as this process has seen it. */
  readonly since: number;
  /** `Deployment shop/web`, for people; undefined before the name is known. */
  readonly target?: string;
  readonly object?: ReadObject<K>;
  readonly action: NodeAction;
  /** Paths of the fields that differed. */
  readonly differences?: readonly string[];
  /** See {@link ReadyReport}. */
  readonly data?: unknown;
  readonly error?: Error;
}

/** Results by node; of a set, by id. */
export type AnyNodeResult = NodeResult | ReadonlyMap<string, NodeResult>;

/** Result of `reconcile`. */
export interface DependentsResult<Nodes extends object = Readonly<Record<string, AnyNodeResult>>> {
  /** Every node is as wanted for the primary's present generation, and nothing is left to delete. */
  readonly ready: boolean;
  /** Waiting does not help: somebody has to change something. */
  readonly stalled: boolean;
  readonly nodes: Nodes;
  /**
   * The conditions `Ready` and `Stalled`, and `Paused` if it applies, in a copy of those that are present. Times change
   * only if a status changes.
   */
  conditions(present?: readonly Condition[]): Condition[];
}
