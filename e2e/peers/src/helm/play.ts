/** What a user of helm does with a release, and what the terminal and the server then show. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { helmProgram, kubectlProgram } from '../programs.js';
import type { Peer } from '../server.js';
import { Transcript, type Step } from '../transcript.js';

const charts = fileURLToPath(new URL('../../charts', import.meta.url));

const foreign = `apiVersion: v1
kind: ConfigMap
metadata: { name: taken-config, namespace: shop }
data: { message: mine }
`;

const objects = 'deploy,svc,cronjob,cm,secret,sa,role,rolebinding,gadgets.helm.kctl.test';

const install: readonly Step[] = [
  'helm list -A',
  'helm install shop ./shop -n shop --dry-run=server',
  'helm install shop ./shop -n shop',
  'helm install shop ./shop -n shop --create-namespace',
  'helm install shop ./shop -n shop',
  'helm list -n shop',
  'helm list -A -o json',
  'helm status shop -n shop',
  'helm get manifest shop -n shop',
  'helm get values shop -n shop',
  'helm get values shop -n shop --all',
  'helm get hooks shop -n shop',
  'helm get notes shop -n shop',
  'helm get metadata shop -n shop',
  'helm history shop -n shop',
  'kubectl get -n shop --ignore-not-found cm,secret',
  'kubectl get -n shop svc,deploy,cronjob,sa,role,rolebinding',
  'kubectl get -n shop gadgets.helm.kctl.test -o jsonpath={.items[*].spec}',
  'kubectl get -n shop cm shop-config -o yaml --show-managed-fields',
  'kubectl get -n shop deploy shop-web -o yaml --show-managed-fields',
  'kubectl get -n shop secret -l owner=helm --show-labels',
];

const upgrade: readonly Step[] = [
  'helm upgrade shop ./shop -n shop --set replicas=5 --set message=second --set gadgets[0].name=small,gadgets[0].size=1,gadgets[1].name=large,gadgets[1].size=10',
  'helm history shop -n shop',
  'helm get manifest shop -n shop --revision 1',
  'helm get manifest shop -n shop --revision 2',
  'helm get values shop -n shop',
  'kubectl get -n shop deploy shop-web -o jsonpath={.spec.replicas}',
  'kubectl get -n shop cm shop-config -o jsonpath={.data}',
  'kubectl get -n shop gadget shop-large -o jsonpath={.spec}',
  // By another manager: what the chart does not say stays, what it says is in conflict.
  'kubectl scale -n shop deploy shop-web --replicas=7',
  'kubectl label -n shop cm shop-config kept=yes',
  'helm upgrade shop ./shop -n shop --reuse-values --set message=third',
  'helm upgrade shop ./shop -n shop --reuse-values --set message=third --force-conflicts',
  'kubectl get -n shop deploy shop-web -o jsonpath={.spec.replicas}',
  'kubectl get -n shop cm shop-config --show-labels',
  'helm upgrade shop ./shop -n shop --set replicas=-1',
  `helm upgrade shop ./shop -n shop --set 'schedule=not a schedule'`,
  'helm upgrade shop ./shop -n shop --set gadgets[0].name=small,gadgets[0].size=0',
  'helm upgrade shop ./shop -n shop --set extra=false --set gadgets=null --force-conflicts',
  'helm history shop -n shop',
  `kubectl get -n shop ${objects} -o name`,
];

const rollback: readonly Step[] = [
  'helm rollback shop 99 -n shop',
  'helm rollback shop 1 -n shop --force-conflicts',
  'helm status shop -n shop',
  'helm history shop -n shop --max 3',
  'helm get manifest shop -n shop',
  'kubectl get -n shop deploy shop-web -o jsonpath={.spec.replicas}',
  'kubectl get -n shop cm shop-config -o jsonpath={.data}',
  `kubectl get -n shop ${objects} -o name`,
];

const others: readonly Step[] = [
  ['kubectl create -f -', foreign],
  'helm install taken ./shop -n shop --set gadgets=null',
  'helm install taken ./shop -n shop --set gadgets=null --take-ownership --force-conflicts --replace',
  'kubectl get -n shop cm taken-config -o yaml',
  // As before Helm 4: the client computes patches.
  'helm upgrade --install old ./shop -n shop --server-side=false',
  'helm upgrade --install old ./shop -n shop --server-side=false --set replicas=4 --set message=patched',
  'kubectl get -n shop deploy old-web -o jsonpath={.spec.replicas}',
  'kubectl get -n shop cm old-config -o yaml --show-managed-fields',
  'helm rollback old 1 -n shop --server-side=false',
  'kubectl get -n shop deploy old-web -o jsonpath={.spec.replicas}',
  'helm list -n shop --filter ^old',
];

const uninstall: readonly Step[] = [
  'helm uninstall shop -n shop --keep-history',
  'helm list -n shop',
  'helm list -n shop --uninstalled',
  'helm history shop -n shop --max 2',
  'helm uninstall shop -n shop',
  'helm uninstall taken -n shop --no-hooks --cascade foreground',
  'helm uninstall old -n shop --wait',
  'helm uninstall missing -n shop',
  'helm list -A',
  `kubectl get -n shop ${objects} -o name`,
  'kubectl delete ns shop',
  'kubectl delete crd gadgets.helm.kctl.test',
];

export async function playHelm({ kubeconfigPath, folder }: Peer): Promise<string> {
  const transcript = new Transcript({
    programs: { kubectl: kubectlProgram(), helm: helmProgram() },
    env: {
      KUBECONFIG: kubeconfigPath,
      KUBECACHEDIR: join(folder, 'cache'),
      HELM_CACHE_HOME: join(folder, 'helm-cache'),
      HELM_CONFIG_HOME: join(folder, 'helm-config'),
      HELM_DATA_HOME: join(folder, 'helm-data'),
      TZ: 'UTC',
    },
    cwd: charts,
  });
  for (const steps of [install, upgrade, rollback, others, uninstall]) await transcript.showAll(steps);
  return transcript.toString();
}
