import { createConsoleLogger, setupSignalHandler, type RuntimeWebhookOptions } from '@kctl/runtime';
import { systemRandom } from '@kctl/wait';
import { createChaos } from './reconciler.js';

/** Serves webhooks with a certificate of the operator's own. */
function webhookIn(namespace: string): RuntimeWebhookOptions {
  const name = 'chaos-pod';
  const inject = { mutating: [`${name}-mutating`], validating: [`${name}-validating`] };
  return {
    selfManagedCertificates: { secret: { name: `${name}-tls`, namespace }, service: { name, namespace }, inject },
  };
}

const logger = createConsoleLogger({ format: 'text' });
try {
  const namespace = process.env['WEBHOOK_NAMESPACE'];
  const manager = await createChaos(
    { logger, ...(namespace === undefined ? {} : { webhook: webhookIn(namespace) }) },
    { random: systemRandom, periodMs: Number(process.env['PERIOD_MS'] ?? 60_000) },
  );
  await manager.run(setupSignalHandler());
} catch (error) {
  logger.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
