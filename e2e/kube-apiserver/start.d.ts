import type { RealApiServer, RealApiServerOptions } from '@kctl/testing';

/** Starts a real kube-apiserver, building it first where no binaries are given. */
export function startRealApiServer(
  options?: Omit<RealApiServerOptions, 'binaries'> & { readonly release?: string },
): Promise<RealApiServer>;
