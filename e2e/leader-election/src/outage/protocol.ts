/** What a replica is started with. */
export interface ReplicaSettings {
  readonly identity: string;
  /** Through the counting proxy of this replica. */
  readonly server: string;
  readonly ca: string;
  readonly token: string;
  readonly namespace: string;
  /** Folder of the certificate of its webhook server. */
  readonly certDir: string;
}

/** What a replica says on its stdout, one JSON object a line. Times are those of CLOCK_MONOTONIC, in ms. */
export type ReplicaLine =
  | { readonly what: 'serving'; readonly health: number; readonly webhook: number }
  | { readonly what: 'reconciled'; readonly at: number; readonly name: string; readonly isLeader: boolean }
  | {
      readonly what: 'state';
      readonly at: number;
      readonly isLeader: boolean;
      /** Turns of work that needs no leadership. */
      readonly ticks: number;
      /** Names of the ConfigMaps in the cache. */
      readonly cached: readonly string[];
    };

/** How often a replica says its state, in ms. */
export const stateEveryMs = 200;

/** The ConfigMap that the validator reads from the cache: a ConfigMap may have so many entries. */
export const limitsName = 'limits';
