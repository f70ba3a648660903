// An operator in the small: keeps a ConfigMap in its namespace, and is ready when it is there. `--fail` ends it.
import { createServer } from 'node:http';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient, loadConnection } from '@kctl/client-http';

const namespace = process.env['POD_NAMESPACE'] ?? '';
const [host = '', port = ''] = (process.env['HEALTH_PROBE_BIND_ADDRESS'] ?? '').split(':');
const stopped = new Promise((resolve) => process.once('SIGTERM', resolve));
await using client = createHttpClient({ connection: await loadConnection() });
await client.create(ConfigMap, { metadata: { namespace, name: 'made' }, data: { word: process.env['WORD'] ?? '' } });
console.log(`made it ${process.argv.slice(2).join(' ')}`);
if (process.argv.includes('--fail')) throw new Error('broken operator');
const server = createServer((_, response) => void response.end('ok')).listen(Number(port), host);
await stopped;
server.closeAllConnections();
server.close();
if (process.argv.includes('--dirty')) process.exitCode = 3;
