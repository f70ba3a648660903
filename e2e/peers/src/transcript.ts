/** What a user of kubectl does, and what the terminal shows: the same on a real and on the embedded server. */
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './command.js';

const MANIFEST = `apiVersion: v1
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
const GADGET = (size: number): string => `apiVersion: demo.kctl.test/v1
kind: Gadget
metadata: { name: g, namespace: demo }
spec: { size: ${size} }
`;
const REPLACED = `apiVersion: v1
kind: ConfigMap
metadata: { name: one, namespace: demo, labels: { app: y } }
data: { a: "2" }
`;
const DEPENDENT = (uid: string): string => `apiVersion: v1
kind: ConfigMap
metadata: { name: dependent, namespace: demo, ownerReferences: [{ apiVersion: apps/v1, kind: Deployment, name: web, uid: ${uid} }] }
`;

/** A command line, or one with something on stdin. */
type Step = string | readonly [command: string, input: string];

const STEPS: readonly Step[] = [
  ['create -f -', MANIFEST],
  'wait --for=condition=Established crd/gadgets.demo.kctl.test --timeout=20s',
  ['create -f -', GADGET(1)],
  ['create -f -', GADGET(1)],
  'get ns demo --show-labels',
  'get configmap one -n demo',
  'get cm one -n demo -o yaml',
  'get cm one -n demo -o json',
  'get cm one -n demo -o name',
  'get cm one -n demo -o jsonpath={.data.b}',
  'get cm -n demo -o custom-columns=NAME:.metadata.name,A:.data.a',
  'get cm one -n demo -o go-template={{.data.a}}',
  'get cm one -n demo -o wide',
  'get cm -n demo -l app=x',
  'get cm -n demo --field-selector metadata.name=held',
  'get cm,secret,svc,deploy,cronjob -n demo',
  'get deploy web -n demo -o wide',
  'get deploy -n demo --no-headers',
  'get gd -n demo',
  'get gadgets -A',
  'get gadgets.v1.demo.kctl.test g -n demo -o yaml',
  'get all -n demo',
  'get cm missing -n demo',
  'get nothings',
  'get cm --chunk-size=1 -n demo',
  'get pods -n demo',
  'describe cm one -n demo',
  'describe secret keys -n demo',
  'describe svc front -n demo',
  'describe deploy web -n demo',
  'describe gadget g -n demo',
  'describe ns demo',
  ['replace -f -', REPLACED],
  'get cm one -n demo --show-labels',
  'label cm one -n demo b=c',
  'label cm one -n demo b=d',
  'label cm one -n demo b=d --overwrite',
  'label cm one -n demo b-',
  'annotate cm one -n demo note=hello',
  ['patch cm one -n demo -p {"data":{"c":"3"}}', ''],
  'patch cm one -n demo --type merge -p {"data":{"a":null}}',
  'patch cm one -n demo --type json -p [{"op":"test","path":"/data/c","value":"9"}]',
  'patch gadget g -n demo --type merge -p {"spec":{"size":"big"}}',
  'patch gadget g -n demo --type merge --subresource status -p {"status":{"ready":true}}',
  'get gadget g -n demo -o jsonpath={.status}',
  'get cm one -n demo -o jsonpath={.data}',
  'scale deploy web -n demo --replicas=5',
  'scale deploy web -n demo --current-replicas=2 --replicas=1',
  'get deploy web -n demo --subresource scale',
  'set image deploy/web -n demo c=nginx:1.28',
  'get deploy web -n demo -o jsonpath={.spec.template.spec.containers[0].image}',
  'rollout pause deploy/web -n demo',
  ['apply -f -', GADGET(7)],
  ['apply -f -', GADGET(7)],
  'get gadget g -n demo',
  'delete cm one -n demo',
  'wait --for=delete cm/one -n demo --timeout=10s',
  'delete cm held -n demo --wait=false',
  'get cm held -n demo -o jsonpath={.metadata.finalizers}',
  'patch cm held -n demo --type merge -p {"metadata":{"finalizers":null}}',
  'wait --for=delete cm/held -n demo --timeout=10s',
  'delete secret --all -n demo',
  'api-resources --api-group=apps',
  'api-resources --api-group=demo.kctl.test',
  'api-resources --namespaced=false --api-group=',
  'get --raw /healthz',
  'get --raw /api/v1/namespaces/demo/configmaps/none',
];

const CASCADES = ['orphan', 'foreground', 'background'] as const;

export interface TranscriptOptions {
  readonly kubeconfigPath: string;
  readonly folder: string;
}

/** Does it all and returns what the terminal showed, without what differs from run to run. */
export async function kubectlTranscript({ kubeconfigPath, folder }: TranscriptOptions): Promise<string> {
  const lines: string[] = [];
  const kubectl = async (command: string, input?: string): Promise<string> => {
    const { output } = await run('kubectl', [`--cache-dir=${folder}/cache`, ...command.split(' ')], {
      env: { KUBECONFIG: kubeconfigPath },
      ...(input === undefined ? {} : { input }),
    });
    lines.push(`$ kubectl ${command}`, steady(output).trimEnd(), '');
    return output;
  };
  for (const step of STEPS) await (typeof step === 'string' ? kubectl(step) : kubectl(step[0], step[1]));

  for (const cascade of CASCADES) {
    const uid = (await kubectl('get deploy web -n demo -o jsonpath={.metadata.uid}')).trim();
    await kubectl('create -f -', DEPENDENT(uid));
    await sleep(500); // The collector of a real server must have seen the dependent.
    await kubectl(`delete deploy web -n demo --cascade=${cascade}`);
    if (cascade === 'orphan') {
      await kubectl('get cm dependent -n demo -o jsonpath={.metadata.ownerReferences}');
      await kubectl('delete cm dependent -n demo');
    } else await kubectl('wait --for=delete cm/dependent -n demo --timeout=30s');
    if (cascade !== 'background') await kubectl('create -f -', MANIFEST.split('---\n')[5]);
  }
  await kubectl('delete ns demo');
  await kubectl('get ns demo');
  await kubectl('delete crd gadgets.demo.kctl.test');
  await kubectl('get gadgets -A');
  return `${lines.join('\n')}\n`;
}

/** Takes out ages, times, uids, revisions and the width of columns that depends on them. */
function steady(text: string): string {
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>')
    .replace(/(Timestamp:\s+|Creation Timestamp:\s+)\w{3}, .*/g, '$1<time>')
    .replace(/(resourceVersion"?: )"\d+"/g, '$1"<revision>"')
    .replace(/Resource Version:(\s+)\d+/g, 'Resource Version:$1<revision>')
    .replace(/\b\d+(ms|s|m)\b(?=\s|$)/gm, '<age>')
    .replace(/(\S) {2,}/g, '$1  ')
    .replace(/https:\/\/127\.0\.0\.1:\d+/g, '<server>')
    .replace(/ +$/gm, '')
    .replace(/(?<=^Data\n====\n)(?:\S+:\n----\n[^\n]*\n\n)+/gm, sortEntries);
}

/** kubectl describes the entries of a ConfigMap in the order of a Go map: another one each time. */
function sortEntries(entries: string): string {
  return entries
    .split(/(?<=\n\n)/)
    .sort()
    .join('');
}
