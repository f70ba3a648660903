// The generated client of @kubernetes/client-node: client-node.ts <server.json> <get|create|patch|list> <count> <concurrency>
import { CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { readServerInfo } from '../servers/server-info.js';
import { measureRequests, newPod, patchOf, podKey } from './requests.js';

const [path = '', ...args] = process.argv.slice(2);
const { url, ca, token } = readServerInfo(path);
const config = new KubeConfig();
config.loadFromOptions({
  clusters: [{ name: 'c', server: url, caData: Buffer.from(ca).toString('base64') }],
  users: [{ name: 'u', token }],
  contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
  currentContext: 'x',
});
const api = config.makeApiClient(CoreV1Api);
const asMergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
const { namespace } = podKey;
await measureRequests(
  {
    get: () => api.readNamespacedPod(podKey),
    create: (i) => api.createNamespacedPod({ namespace, body: newPod(i) }),
    patch: (i) => api.patchNamespacedPod({ ...podKey, body: patchOf(i) }, asMergePatch),
    list: () => api.listPodForAllNamespaces(),
  },
  args,
);
process.exit(0);
