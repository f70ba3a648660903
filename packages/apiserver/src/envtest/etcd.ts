/** Replaces etcd for envtest. Answers `/health` and keeps nothing, because the embedded server has a built-in store. */
import { createServer } from 'node:http';
import process from 'node:process';
import { Flags } from './flags.js';
import { stopWithParent } from '../process/stop-with-parent.js';

const usage = `Usage: etcd [flags]

The etcd of the embedded API server: it answers /health, and keeps nothing. Further flags are taken and have no effect.

  --listen-client-urls <url>  where /health is answered (default http://127.0.0.1:2379)
  --version                   print the version and exit
`;

const defaultUrl = 'http://127.0.0.1:2379';
const version = { etcdserver: '3.6.8', etcdcluster: '3.6.0' };

function main(): void {
  const flags = new Flags(process.argv.slice(2), new Set(['help', 'version', 'unsafe-no-fsync']));
  if (flags.has('help')) {
    process.stdout.write(usage);
    return;
  }
  if (flags.has('version')) {
    process.stdout.write(`etcd Version: ${version.etcdserver}\n`);
    return;
  }
  const { hostname, port } = new URL(flags.list('listen-client-urls')[0] ?? defaultUrl);
  const server = createServer((request, response) => {
    const [pathname = '/'] = (request.url ?? '/').split('?'); // not a URL: `//` would not be one
    const answers: Readonly<Record<string, unknown>> = {
      '/health': { health: 'true', reason: '' },
      '/version': version,
    };
    const body = answers[pathname];
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(body === undefined ? '404 page not found\n' : JSON.stringify(body));
  });
  const stop = (): void => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  stopWithParent(stop);
  server.once('error', (error) => {
    process.stderr.write(`etcd: ${error.message}\n`);
    process.exit(1);
  });
  server.listen(Number(port), hostname.replace(/^\[|\]$/g, ''));
}

main();
