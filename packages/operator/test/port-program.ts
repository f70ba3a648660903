/** An operator whose metrics port is taken, by itself; with NO_CLUSTER it looks for a kubeconfig. */
import { createServer } from 'node:net';
import { defineOperator } from '../src/index.js';

const server = createServer();
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
const address = server.address();
process.env['METRICS_BIND_ADDRESS'] = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
process.env['HEALTH_PROBE_BIND_ADDRESS'] = '0';
await defineOperator({
  name: 'op',
  manager: () => (process.env['NO_CLUSTER'] === '1' ? {} : { connection: { server: 'https://127.0.0.1:1' } }),
  setup: () => undefined,
}).main(import.meta.url);
