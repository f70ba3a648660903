// @kctl/client-http: kctl.ts <server.json> <get|create|patch|list> <count> <concurrency>
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient } from '@kctl/client-http';
import { connectionTo, readServerInfo } from '../servers/server-info.js';
import { measureRequests, newPod, patchOf, podKey } from './requests.js';

const [path = '', ...args] = process.argv.slice(2);
await using client = createHttpClient({ connection: connectionTo(readServerInfo(path)) });
await measureRequests(
  {
    get: () => client.get(Pod, podKey),
    create: (i) => client.create(Pod, newPod(i)),
    patch: (i) => client.patch(Pod, podKey, { type: 'merge', body: patchOf(i) }),
    list: () => client.list(Pod),
  },
  args,
);
