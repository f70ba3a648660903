import {
  applyWebhookManifests,
  createConsoleLogger,
  setupSignalHandler,
  webhookConfigurations,
  type RuntimeWebhookOptions,
} from '@kctl/runtime';
import { systemRandom } from '@kctl/wait';
import { createChaos } from './reconciler.js';

const name = 'chaos-pod';

/** Serves webhooks with a certificate of the operator's own; `localhost` is for an API server on the same machine. */
function webhookIn(namespace: string): RuntimeWebhookOptions {
  const inject = { mutating: [`${name}-mutating`], validating: [`${name}-validating`] };
  return {
    port: Number(process.env['WEBHOOK_PORT'] ?? 9443),
    selfManagedCertificates: {
      secret: { name: `${name}-tls`, namespace },
      service: { name, namespace },
      dnsNames: ['localhost'],
      inject,
    },
  };
}

const logger = createConsoleLogger({ format: 'text' });
try {
  const namespace = process.env['WEBHOOK_NAMESPACE'];
  const url = process.env['WEBHOOK_URL'];
  const manager = await createChaos(
    { logger, ...(namespace === undefined ? {} : { webhook: webhookIn(namespace) }) },
    { random: systemRandom, periodMs: Number(process.env['PERIOD_MS'] ?? 60_000) },
  );
  // As in development; a cluster gets the configurations with the deployment, for the Service.
  if (url !== undefined)
    await applyWebhookManifests(
      manager.liveClient,
      webhookConfigurations(manager.webhookServer.webhooks ?? [], { name, address: { url } }),
      { fieldOwner: name },
    );
  await manager.run(setupSignalHandler());
} catch (error) {
  logger.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
