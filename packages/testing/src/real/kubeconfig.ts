import type { CertificateAndKey } from './certificates.js';

/** Whom a kubeconfig speaks to, and as whom. */
export interface KubeconfigOptions {
  readonly url: string;
  readonly caPem: string;
  readonly certificate: CertificateAndKey;
  readonly token: string;
}

/** A kubeconfig with two contexts: `kctl` (client certificate, current) and `kctl-token` (bearer token). */
export function kubeconfigYaml({ url, caPem, certificate, token }: KubeconfigOptions): string {
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
  return `apiVersion: v1
kind: Config
clusters:
  - name: kctl
    cluster:
      server: ${url}
      certificate-authority-data: ${base64(caPem)}
users:
  - name: kctl
    user:
      client-certificate-data: ${base64(certificate.certPem)}
      client-key-data: ${base64(certificate.keyPem)}
  - name: kctl-token
    user:
      token: ${token}
contexts:
  - name: kctl
    context: { cluster: kctl, user: kctl }
  - name: kctl-token
    context: { cluster: kctl, user: kctl-token }
current-context: kctl
`;
}
