/** Replaces kube-apiserver for envtest. Takes its flags, and serves. */
import process from 'node:process';
import { messageOf } from '@kctl/telemetry/internal';
import { apiServerFlags } from './api-server-flags.js';
import { Flags } from './flags.js';
import { stopWithParent } from '../process/stop-with-parent.js';

const switches = new Set(['help', 'version']);

function usage(): string {
  const width = Math.max(...Object.keys(apiServerFlags).map((name) => name.length));
  const lines = Object.entries(apiServerFlags).map(([name, text]) => `  --${name.padEnd(width)}  ${text}`);
  return `Usage: kube-apiserver [flags]

The embedded API server of @kctl/apiserver under the flags of kube-apiserver, as envtest starts it: without the
controllers of kube-controller-manager, and with its own store in memory. Further flags are taken and have no effect.

${lines.join('\n')}
`;
}

async function main(): Promise<void> {
  const flags = new Flags(process.argv.slice(2), switches);
  if (flags.has('help')) {
    process.stdout.write(usage());
    return;
  }
  if (flags.has('version')) {
    const { kubernetesVersion } = await import('../protocol/kubernetes-version.js');
    process.stdout.write(`Kubernetes ${kubernetesVersion.gitVersion}\n`);
    return;
  }
  const [{ createApiServer }, { optionsOfFlags }] = await Promise.all([
    import('../api-server.js'),
    import('./api-server-flags.js'),
  ]);
  const server = createApiServer(optionsOfFlags(flags));
  await server.start();
  process.stderr.write(`kube-apiserver: serving on ${server.url}\n`);
  const ignored = flags.names.filter((name) => apiServerFlags[name] === undefined);
  if (ignored.length > 0) process.stderr.write(`kube-apiserver: without effect here: --${ignored.join(', --')}\n`);
  const stop = (): void => {
    void server.stop().then(() => process.exit(0));
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  stopWithParent(stop);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`kube-apiserver: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
