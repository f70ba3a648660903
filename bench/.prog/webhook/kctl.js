// Serves a defaulter and a validator of Pods until its standard input ends: kctl.ts <port> <directory of tls.crt and tls.key>
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { createWebhookServer, defaultingWebhook, validatingWebhook } from '@kctl/webhook';

const [port = '0', certDir = '.'] = process.argv.slice(2);
const server = createWebhookServer({ host: '127.0.0.1', port: Number(port), certDir });
server.register(
  '/default',
  defaultingWebhook(Pod, (draft) => {
    draft.metadata.annotations = { ...draft.metadata.annotations, 'bench.kctl.dev/defaulted': 'true' };
  }),
);
server.register(
  '/validate',
  validatingWebhook(Pod, {
    validateCreate: ({ spec }) => {
      if (spec === undefined || spec.containers.length === 0) throw new Error('a pod needs a container');
      return undefined;
    },
  }),
);
const stop = new AbortController();
process.stdin.resume().once('end', () => stop.abort());
await server.run(stop.signal);
