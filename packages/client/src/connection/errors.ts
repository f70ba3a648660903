const kubeConfigCode = 'KCTL_KUBE_CONFIG';

/** Thrown when a kubeconfig cannot be read or does not state the server. Names file, field and remedy. */
export class KubeConfigError extends Error {
  override readonly name = 'KubeConfigError';
  readonly code: 'KCTL_KUBE_CONFIG' = kubeConfigCode;
}

/** Whether an error is a {@link KubeConfigError}, also one of another copy of this package. */
export function isKubeConfigError(error: unknown): error is KubeConfigError {
  return error instanceof Error && 'code' in error && error.code === kubeConfigCode;
}
