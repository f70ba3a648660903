/**
 * A kubeconfig with two contexts: `kctl` (client certificate, current) and `kctl-token` (bearer token).
 *
 * @param {{ url: string, pki: import('./pki.mjs').Pki }} options
 * @returns {string} YAML
 */
export function kubeconfigYaml({ url, pki }) {
  const base64 = (/** @type {string} */ pem) => Buffer.from(pem).toString('base64');
  return `apiVersion: v1
kind: Config
clusters:
  - name: kctl
    cluster:
      server: ${url}
      certificate-authority-data: ${base64(pki.caPem)}
users:
  - name: kctl
    user:
      client-certificate-data: ${base64(pki.admin.certPem)}
      client-key-data: ${base64(pki.admin.keyPem)}
  - name: kctl-token
    user:
      token: ${pki.adminToken}
contexts:
  - name: kctl
    context: { cluster: kctl, user: kctl }
  - name: kctl-token
    context: { cluster: kctl, user: kctl-token }
current-context: kctl
`;
}
