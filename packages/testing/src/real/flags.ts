import type { Pki } from './pki.js';

// The command lines of the three components. Everything binds to 127.0.0.1.

export function etcdFlags({ etcdUrl, folder }: { readonly etcdUrl: string; readonly folder: string }): string[] {
  return [
    `--data-dir=${folder}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    '--listen-peer-urls=http://127.0.0.1:0', // One member: nobody needs to know the port.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

/** Input of kube-apiserver's flags. */
export interface ApiServerFlagOptions {
  readonly etcdUrl: string;
  readonly port: number;
  readonly pki: Pki;
  readonly folder: string;
  /**
   * A controller creates the default service account of each namespace. Without it the ServiceAccount admission
   * plugin would refuse every pod, so it is switched off.
   */
  readonly serviceAccounts: boolean;
}

export function apiServerFlags({ etcdUrl, port, pki, folder, serviceAccounts }: ApiServerFlagOptions): string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    // An endpoint on loopback would be refused as the `kubernetes` service's, so none is set.
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    `--cert-dir=${folder}`,
    `--tls-cert-file=${pki.files.servingCert}`,
    `--tls-private-key-file=${pki.files.servingKey}`,
    `--client-ca-file=${pki.files.ca}`,
    `--token-auth-file=${pki.files.tokens}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-signing-key-file=${pki.files.serviceAccountKey}`,
    `--service-account-key-file=${pki.files.serviceAccountPublicKey}`,
    ...(serviceAccounts ? [] : ['--disable-admission-plugins=ServiceAccount']),
    '--service-cluster-ip-range=10.0.0.0/24',
    '--allow-privileged=true',
    '--max-requests-inflight=3000',
    '--max-mutating-requests-inflight=1000',
    '--profiling=false',
  ];
}

/** Only the controllers that the API's behaviour depends on (garbage collection, namespaces, service accounts). */
export function controllerManagerFlags({
  kubeconfigPath,
  pki,
}: {
  readonly kubeconfigPath: string;
  readonly pki: Pki;
}): string[] {
  const controllers = ['garbage-collector', 'namespace', 'serviceaccount', 'serviceaccount-token'];
  return [
    `--kubeconfig=${kubeconfigPath}`,
    `--controllers=${controllers.map((name) => `${name}-controller`).join(',')}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    `--service-account-private-key-file=${pki.files.serviceAccountKey}`,
    `--root-ca-file=${pki.files.ca}`,
    // Deletion of a namespace takes one request per resource type, so the default of 20 a second would be slow.
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
    '--profiling=false',
  ];
}
