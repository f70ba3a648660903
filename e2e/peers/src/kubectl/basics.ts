/** What users of kubectl do with objects of their own: create, read, change, patch, scale, apply, delete. */
import type { Step } from '../transcript.js';

export const manifest = `apiVersion: v1
kind: Namespace
metadata: { name: demo, labels: { team: a } }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: one, namespace: demo, labels: { app: x } }
data: { a: "1", b: "two" }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: held, namespace: demo, finalizers: [kctl.test/hold] }
---
apiVersion: v1
kind: Secret
metadata: { name: keys, namespace: demo }
stringData: { user: jane }
---
apiVersion: v1
kind: Service
metadata: { name: front, namespace: demo }
spec: { clusterIP: None, selector: { app: web }, ports: [{ name: http, port: 80, targetPort: 8080 }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: demo, labels: { app: web } }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: c, image: "nginx:1.27" }] }
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: nightly, namespace: demo }
spec:
  schedule: "0 3 * * *"
  jobTemplate: { spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] } } } }
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgets.demo.kctl.test }
spec:
  group: demo.kctl.test
  scope: Namespaced
  names: { plural: gadgets, singular: gadget, kind: Gadget, shortNames: [gd], categories: [all] }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { size: { type: integer } } }, status: { type: object, x-kubernetes-preserve-unknown-fields: true } } } }
      subresources: { status: {} }
      additionalPrinterColumns:
        - { name: Size, type: integer, jsonPath: .spec.size }
        - { name: Age, type: date, jsonPath: .metadata.creationTimestamp }
`;
const gadget = (size: number): string => `apiVersion: demo.kctl.test/v1
kind: Gadget
metadata: { name: g, namespace: demo }
spec: { size: ${size} }
`;
const replaced = `apiVersion: v1
kind: ConfigMap
metadata: { name: one, namespace: demo, labels: { app: y } }
data: { a: "2" }
`;
export const dependent = (uid: string): string => `apiVersion: v1
kind: ConfigMap
metadata: { name: dependent, namespace: demo, ownerReferences: [{ apiVersion: apps/v1, kind: Deployment, name: web, uid: ${uid} }] }
`;

export const basics: readonly Step[] = [
  ['kubectl create -f -', manifest],
  'kubectl wait --for=condition=Established crd/gadgets.demo.kctl.test --timeout=20s',
  ['kubectl create -f -', gadget(1)],
  ['kubectl create -f -', gadget(1)],
  'kubectl get ns demo --show-labels',
  'kubectl get configmap one -n demo',
  'kubectl get cm one -n demo -o yaml',
  'kubectl get cm one -n demo -o json',
  'kubectl get cm one -n demo -o name',
  'kubectl get cm one -n demo -o jsonpath={.data.b}',
  'kubectl get cm -n demo -o custom-columns=NAME:.metadata.name,A:.data.a',
  'kubectl get cm one -n demo -o go-template={{.data.a}}',
  'kubectl get cm one -n demo -o wide',
  'kubectl get cm -n demo -l app=x',
  'kubectl get cm -n demo --field-selector metadata.name=held',
  'kubectl get cm,secret,svc,deploy,cronjob -n demo',
  'kubectl get deploy web -n demo -o wide',
  'kubectl get deploy -n demo --no-headers',
  'kubectl get gd -n demo',
  'kubectl get gadgets -A',
  'kubectl get gadgets.v1.demo.kctl.test g -n demo -o yaml',
  'kubectl get all -n demo',
  'kubectl get cm missing -n demo',
  'kubectl get nothings',
  'kubectl get cm --chunk-size=1 -n demo',
  'kubectl get pods -n demo',
  'kubectl describe cm one -n demo',
  'kubectl describe secret keys -n demo',
  'kubectl describe svc front -n demo',
  'kubectl describe deploy web -n demo',
  'kubectl describe gadget g -n demo',
  'kubectl describe ns demo',
  ['kubectl replace -f -', replaced],
  'kubectl get cm one -n demo --show-labels',
  'kubectl label cm one -n demo b=c',
  'kubectl label cm one -n demo b=d',
  'kubectl label cm one -n demo b=d --overwrite',
  'kubectl label cm one -n demo b-',
  'kubectl annotate cm one -n demo note=hello',
  ['kubectl patch cm one -n demo -p {"data":{"c":"3"}}', ''],
  'kubectl patch cm one -n demo --type merge -p {"data":{"a":null}}',
  'kubectl patch cm one -n demo --type json -p [{"op":"test","path":"/data/c","value":"9"}]',
  'kubectl patch gadget g -n demo --type merge -p {"spec":{"size":"big"}}',
  'kubectl patch gadget g -n demo --type merge --subresource status -p {"status":{"ready":true}}',
  'kubectl get gadget g -n demo -o jsonpath={.status}',
  'kubectl get cm one -n demo -o jsonpath={.data}',
  'kubectl scale deploy web -n demo --replicas=5',
  'kubectl scale deploy web -n demo --current-replicas=2 --replicas=1',
  'kubectl get deploy web -n demo --subresource scale',
  'kubectl set image deploy/web -n demo c=nginx:1.28',
  'kubectl get deploy web -n demo -o jsonpath={.spec.template.spec.containers[0].image}',
  'kubectl rollout pause deploy/web -n demo',
  ['kubectl apply -f -', gadget(7)],
  ['kubectl apply -f -', gadget(7)],
  'kubectl get gadget g -n demo',
  'kubectl delete cm one -n demo',
  'kubectl wait --for=delete cm/one -n demo --timeout=10s',
  'kubectl delete cm held -n demo --wait=false',
  'kubectl get cm held -n demo -o jsonpath={.metadata.finalizers}',
  'kubectl patch cm held -n demo --type merge -p {"metadata":{"finalizers":null}}',
  'kubectl wait --for=delete cm/held -n demo --timeout=10s',
  'kubectl delete secret --all -n demo',
  'kubectl api-resources --api-group=apps',
  'kubectl api-resources --api-group=demo.kctl.test',
  'kubectl api-resources --namespaced=false --api-group=',
  'kubectl get --raw /healthz',
  'kubectl get --raw /api/v1/namespaces/demo/configmaps/none',
];
