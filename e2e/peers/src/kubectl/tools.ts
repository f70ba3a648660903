/** What kubectl's own generators send (most as protobuf), who may do what, apply and its history, nodes, explanations. */
import type { Step } from '../transcript.js';

const app = (value: string): string => `apiVersion: v1
kind: ConfigMap
metadata: { name: app, namespace: tools, labels: { app: kept } }
data: { key: ${value} }
`;

const strict = `apiVersion: apps/v1
kind: Deployment
metadata: { name: strict, namespace: tools }
spec:
  replica: 1
  selector: { matchLabels: { app: strict } }
  template:
    metadata: { labels: { app: strict } }
    spec: { containers: [{ name: c, image: busybox, prots: [] }] }
`;

const invalid = `apiVersion: apps/v1
kind: Deployment
metadata: { name: Invalid_Name, namespace: tools }
spec:
  selector: { matchLabels: { app: one } }
  template:
    metadata: { labels: { app: two } }
    spec: { restartPolicy: Never, containers: [{ name: c }] }
`;

const node = `apiVersion: v1
kind: Node
metadata: { name: n1, labels: { kubernetes.io/hostname: n1 } }
spec: { podCIDR: 10.244.0.0/24 }
`;

const role = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: reader, namespace: tools }
rules: [{ apiGroups: [""], resources: [secrets], verbs: [get] }]
`;

const request = `apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: { name: jane }
spec:
  request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIWE1IOENBUUF3SFRFTk1Bc0dBMVVFQXd3RWFtRnVaVEVNTUFvR0ExVUVDZ3dEWkdWMk1Ga3dFd1lIS29aSQp6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVZSmxoZ0o2aEE4K2pPR2lrQXpQVXBsd3dUcHpwejBNYVlpS0E2bGNIClp1MDZmYnQ4ZHVhaHBlSUpzMC9xZVg0N081SzlmZHliSGJ0dzZpNWE5U2hyRTZBQU1Bb0dDQ3FHU000OUJBTUMKQTBnQU1FVUNJUUNRZUQ5a2c5YVhWR0Q1eDUwNG5RWkFTWWViVDVFcjkwdXdKQXdpNkpLYnBBSWdDdVZJa1A3UgpLV284TTNMNlU3cFBRaFk1NWRBcVFrcmplVnVIdUtiT3Q5OD0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==
  signerName: example.com/signer
  usages: [client auth]
`;

const robot = 'system:serviceaccount:tools:robot';

const generators: readonly Step[] = [
  'kubectl create ns tools',
  'kubectl create ns tools',
  'kubectl create cm lit -n tools --from-literal=a=b --from-literal=c=d',
  'kubectl create cm lit -n tools --from-literal=a=b',
  'kubectl create cm dry -n tools --from-literal=a=b --dry-run=client -o yaml',
  'kubectl create cm dry -n tools --from-literal=a=b --dry-run=server -o yaml',
  'kubectl create cm -n tools Bad_Name --from-literal=a=b',
  'kubectl create secret generic sec -n tools --from-literal=user=jane',
  'kubectl create secret docker-registry reg -n tools --docker-server=r.example --docker-username=u --docker-password=p',
  'kubectl get secret sec reg -n tools -o yaml',
  'kubectl create deployment web -n tools --image=nginx:1.27 --replicas=3 --port=80',
  'kubectl get deploy web -n tools -o yaml',
  'kubectl create service clusterip front -n tools --tcp=80:8080',
  'kubectl create service nodeport np -n tools --tcp=80:8080 --node-port=30080',
  'kubectl create service nodeport np2 -n tools --tcp=80:8080 --node-port=30080',
  'kubectl create service externalname ext -n tools --external-name=example.com',
  'kubectl get svc front np ext -n tools -o yaml',
  'kubectl create sa robot -n tools',
  'kubectl create token robot -n tools --duration=10m',
  'kubectl create token missing -n tools',
  'kubectl create role reader -n tools --verb=get,list --resource=pods,configmaps',
  `kubectl create rolebinding reader -n tools --role=reader --serviceaccount=tools:robot`,
  'kubectl create clusterrole cluster-reader --verb=get,list,watch --resource=nodes',
  'kubectl create clusterrolebinding cluster-reader --clusterrole=cluster-reader --user=jane',
  'kubectl create job once -n tools --image=busybox -- date',
  `kubectl create cronjob hourly -n tools --image=busybox '--schedule=0 * * * *' -- date`,
  'kubectl create job from-cron -n tools --from=cronjob/hourly',
  'kubectl create quota small -n tools --hard=services.loadbalancers=10,cpu=2,memory=1Gi',
  'kubectl create ingress web -n tools --rule=example.com/*=front:80',
  'kubectl create pdb web -n tools --selector=app=web --min-available=1',
  'kubectl create priorityclass high --value=1000 --description=important',
  'kubectl get role,rolebinding,quota,ingress,pdb,cronjob,job -n tools',
  'kubectl get role,rolebinding,quota,ingress,pdb,cronjob -n tools -o yaml',
  'kubectl get job once -n tools -o jsonpath={.spec.template.spec}',
  'kubectl get priorityclass high -o yaml',
  'kubectl describe quota small -n tools',
  'kubectl delete quota small -n tools',
  'kubectl run box -n tools --image=busybox --restart=Never --labels=app=box -- sleep 60',
  'kubectl get pod box -n tools -o jsonpath={.spec.containers}',
  'kubectl get pod box -n tools -o wide',
  'kubectl expose deployment web -n tools --port=80 --target-port=8080',
  'kubectl autoscale deployment web -n tools --min=1 --max=5 --cpu=80%',
  'kubectl get hpa web -n tools -o yaml',
  'kubectl get all -n tools',
  'kubectl describe role reader -n tools',
  'kubectl describe rolebinding reader -n tools',
  'kubectl describe clusterrole cluster-reader',
  'kubectl describe sa robot -n tools',
  'kubectl describe ingress web -n tools',
  'kubectl describe pdb web -n tools',
  'kubectl describe job once -n tools',
  'kubectl describe cronjob hourly -n tools',
  'kubectl describe pod box -n tools',
  'kubectl describe priorityclass high',
  'kubectl describe svc np -n tools',
];

const access: readonly Step[] = [
  `kubectl auth can-i list pods -n tools --as=${robot}`,
  `kubectl auth can-i delete pods -n tools --as=${robot}`,
  'kubectl auth can-i list nodes --as=jane',
  'kubectl auth can-i list nodes --as=joe',
  'kubectl auth can-i get pods/log -n tools --as=jane',
  'kubectl auth can-i get /healthz --as=jane',
  'kubectl auth can-i create nothings --as=jane',
  `kubectl auth can-i --list -n tools --as=${robot}`,
  'kubectl auth can-i * *',
  'kubectl auth whoami --as=jane --as-group=dev',
  `kubectl get pods -n tools --as=${robot}`,
  `kubectl delete pod box -n tools --as=${robot}`,
  `kubectl create cm x -n tools --as=${robot}`,
  'kubectl get nodes --as=joe --as-group=system:masters',
  ['kubectl auth reconcile -f -', role],
  'kubectl get role reader -n tools -o jsonpath={.rules}',
  ['kubectl create -f - --as=jane --as-group=system:masters', request],
  'kubectl certificate approve jane',
  'kubectl get csr jane',
  'kubectl get csr jane -o jsonpath={.status.conditions[0].type}',
  'kubectl certificate deny jane',
  'kubectl delete csr jane',
];

const applied: readonly Step[] = [
  ['kubectl diff -f -', app('first')],
  ['kubectl apply -f -', app('first')],
  ['kubectl apply -f -', app('first')],
  ['kubectl diff -f -', app('second')],
  ['kubectl apply -f - --dry-run=server', app('second')],
  ['kubectl apply -f -', app('second')],
  'kubectl apply view-last-applied cm/app -n tools',
  'kubectl get cm app -n tools -o yaml --show-managed-fields',
  ['kubectl apply --server-side --field-manager=other -f -', app('third')],
  ['kubectl apply --server-side --field-manager=other --force-conflicts -f -', app('third')],
  ['kubectl diff --server-side --field-manager=other -f -', app('fourth')],
  'kubectl get cm app -n tools -o yaml --show-managed-fields',
  'kubectl edit cm app -n tools',
  'kubectl get cm app -n tools -o jsonpath={.data}',
  ['kubectl apply -f - -l app=kept --prune --prune-allowlist=core/v1/ConfigMap -n tools', app('fifth')],
  ['kubectl apply -f - -n other', app('first')],
  ['kubectl apply -f -', app('first').replace('tools', 'missing')],
  ['kubectl create -f -', strict],
  ['kubectl create -f - --validate=warn --dry-run=server', strict],
  ['kubectl create -f - --validate=ignore --dry-run=server', strict],
  ['kubectl create -f -', invalid],
  ['kubectl apply -f -', invalid.replace('apps/v1', 'apps/v7')],
  ['kubectl replace --force -f -', app('sixth')],
  ['kubectl delete -f -', app('sixth')],
  ['kubectl delete -f - --ignore-not-found', app('sixth')],
];

const workloads: readonly Step[] = [
  'kubectl set env deploy/web -n tools A=b',
  'kubectl set resources deploy/web -n tools --limits=cpu=200m,memory=512Mi',
  'kubectl set serviceaccount deploy/web -n tools robot',
  'kubectl set selector svc front -n tools app=other',
  'kubectl get deploy web -n tools -o jsonpath={.spec.template.spec}',
  'kubectl rollout restart deploy/web -n tools',
  'kubectl rollout history deploy/web -n tools',
  'kubectl rollout status deploy/web -n tools --timeout=1s',
  'kubectl rollout undo deploy/web -n tools',
  'kubectl rollout resume deploy/web -n tools',
  'kubectl wait --for=condition=Available deploy/web -n tools --timeout=1s',
  'kubectl wait --for=jsonpath={.spec.replicas}=3 deploy/web -n tools --timeout=5s',
  'kubectl label deploy web -n tools --list',
  'kubectl get cm -n tools --sort-by=.metadata.name',
  'kubectl get events -n tools',
  'kubectl events -n tools',
  'kubectl logs box -n tools',
  'kubectl exec box -n tools -- ls',
  'kubectl attach box -n tools',
  'kubectl port-forward pod/box 0:8080 -n tools',
  'kubectl debug box -n tools --image=busybox --attach=false -c look',
  'kubectl get pod box -n tools -o jsonpath={.spec.ephemeralContainers}',
  'kubectl top pods -n tools',
  ['kubectl create -f -', node],
  'kubectl get nodes',
  'kubectl describe node n1',
  'kubectl taint nodes n1 k=v:NoSchedule',
  'kubectl cordon n1',
  'kubectl uncordon n1',
  'kubectl drain n1 --ignore-daemonsets --force',
  'kubectl get node n1 -o jsonpath={.spec}',
  'kubectl delete node n1',
  // With its owner it would go by itself, before or after its turn.
  'kubectl delete job from-cron -n tools',
  'kubectl delete all --all -n tools --wait=false --grace-period=0',
];

const explained: readonly Step[] = [
  'kubectl explain pods',
  'kubectl explain deployment.spec.strategy',
  'kubectl explain pods.spec.containers.resources',
  'kubectl explain configmaps --recursive',
  'kubectl explain hpa --api-version=autoscaling/v2',
  'kubectl explain crd.spec.versions.schema.openAPIV3Schema',
  'kubectl explain gadgets',
  'kubectl explain gadgets.spec.size',
  'kubectl explain pods.nothing',
  'kubectl explain nothings',
];

const server: readonly Step[] = [
  'kubectl version',
  'kubectl api-versions',
  'kubectl api-resources --api-group=rbac.authorization.k8s.io -o wide',
  'kubectl api-resources --api-group= --namespaced=true',
  'kubectl api-resources --verbs=list -o name',
  'kubectl cluster-info',
  'kubectl get --raw /apis/autoscaling/v2',
  'kubectl get --raw /apis/demo.kctl.test/v1',
  'kubectl get --raw /apis/nothing.example/v1',
  'kubectl get --raw /readyz',
  'kubectl get clusterroles view -o yaml',
  'kubectl get clusterrolebinding cluster-admin -o wide',
  'kubectl get svc -n default',
  'kubectl get priorityclasses',
  'kubectl get flowschemas',
  'kubectl get prioritylevelconfigurations',
  'kubectl get apiservices',
  'kubectl get ns',
];

/** With a CRD `gadgets.demo.kctl.test` installed. */
export const tools: readonly Step[] = [
  ...server,
  ...generators,
  ...access,
  ...applied,
  ...workloads,
  ...explained,
  'kubectl delete clusterrole,clusterrolebinding cluster-reader',
  'kubectl delete priorityclass high',
  'kubectl delete ns tools',
];
