/** Content of a kubeconfig. */
export interface KubeconfigFacts {
  readonly server: string;
  /** PEM. */
  readonly certificateAuthority: string;
  readonly user: string;
  readonly token?: string;
  /** PEM. */
  readonly clientCertificate?: string;
  /** PEM. */
  readonly clientKey?: string;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A kubeconfig with one cluster, one user and one context, as YAML. */
export function kubeconfigText(facts: KubeconfigFacts): string {
  const { server, certificateAuthority, user, token, clientCertificate, clientKey } = facts;
  const credentials = [
    ...(token === undefined ? [] : [`    token: ${JSON.stringify(token)}`]),
    ...(clientCertificate === undefined ? [] : [`    client-certificate-data: ${base64(clientCertificate)}`]),
    ...(clientKey === undefined ? [] : [`    client-key-data: ${base64(clientKey)}`]),
  ];
  const name = JSON.stringify(user);
  return `apiVersion: v1
kind: Config
clusters:
- name: kctl
  cluster:
    server: ${server}
    certificate-authority-data: ${base64(certificateAuthority)}
users:
- name: ${name}
  user:
${credentials.join('\n')}
contexts:
- name: kctl
  context:
    cluster: kctl
    user: ${name}
    namespace: default
current-context: kctl
`;
}
