import { defineKind } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import type { Logger } from '@kctl/telemetry';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import { controllerManagedBy, createManager, noopLogger } from '../src/index.js';

const Widget = defineKind()({ group: 'example.com', version: 'v1', kind: 'Widget', scope: 'Namespaced' });
const host = '127.0.0.1';

it('is not kept from ready by the kind of a controller that was removed', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  let port = 0;
  const logger: Logger = {
    ...noopLogger,
    info: (message, fields) => {
      if (message === 'starting server') port = (fields?.['addr'] as { port: number }).port;
    },
    child: () => logger,
  };
  const manager = await createManager({
    connection: environment.connection,
    logger,
    health: { host, port: 0 },
  });
  controllerManagedBy(manager)
    .for(ConfigMap)
    .complete(async () => undefined);
  const missing = controllerManagedBy(manager)
    .for(Widget) // its CRD is not installed
    .complete(async () => undefined);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await manager.elected;
  const ready = async (): Promise<number> => (await fetch(`http://${host}:${port}/readyz`)).status;
  await eventually(() => {
    const widgets = manager.cache.informers().find(({ kind }) => kind.kind === 'Widget');
    expect(widgets?.trouble?.reason).toBe('not-found');
  });
  expect(await ready()).toBe(500);
  await manager.remove(missing);
  await eventually(async () => expect(await ready()).toBe(200));
  stop.abort();
  await running;
});
