import type { KubeConfig } from '@kubernetes/client-node';

/** What every step of the port is started with. */
export interface Start {
  readonly kubeConfig: KubeConfig;
  /** Who this replica is, on the lease. */
  readonly identity: string;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** A step: the whole controller. Resolves when it has stopped. */
export type Step = (start: Start) => Promise<void>;
