import type { CertificateAndKey } from './certificates.js';

/** Whom a kubeconfig speaks to, and as whom. */
export interface KubeconfigOptions {
  readonly url: string;
  readonly caPem: string;
  readonly certificate: CertificateAndKey;
  /** Adds the second context. @default none */
  readonly token?: string;
}

/** A kubeconfig with the context `kctl` (client certificate) and, if there is a token, `kctl-token`. */
export function kubeconfigYaml({ url, caPem, certificate, token }: KubeconfigOptions): string {
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
  const tokenUser = token === undefined ? '' : `  - name: kctl-token\n    user:\n      token: ${token}\n`;
  const tokenContext =
    token === undefined ? '' : '  - name: kctl-token\n    context: { cluster: kctl, user: kctl-token }\n';
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
${tokenUser}contexts:
  - name: kctl
    context: { cluster: kctl, user: kctl }
${tokenContext}current-context: kctl
`;
}
