/** The Kubernetes version whose behaviour this server follows. */
export const kubernetesVersion = { major: '1', minor: '36', gitVersion: 'v1.36.0+kctl' } as const;
