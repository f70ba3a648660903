/** Paths of the binaries, see build.mjs. */
export interface Binaries {
  readonly kubeApiserver: string;
  readonly etcd: string;
  readonly kubeControllerManager?: string;
  readonly version: string;
}

/** Finds the binaries of a real API server, or builds them. */
export function ensureBinaries(options?: {
  readonly controllerManager?: boolean;
  /** A minor release, as `1.34`. */
  readonly release?: string | undefined;
  readonly log?: (line: string) => void;
  readonly signal?: AbortSignal;
}): Promise<Binaries>;
