/** An operator as users write it, for the start-up matrix; the environment says what it finds. */
import { loadConnection } from '@kctl/client-http';
import { defineKind } from '@kctl/apimachinery';
import { controllerManagedBy, createManager, setupSignalHandler } from '../src/index.js';

const { CONNECTION = '', KIND = '', SYNC_TIMEOUT_MS = '', START_POLICY } = process.env;
const watched = defineKind()({
  ...(KIND === 'Widget' ? { group: 'example.com', version: 'v1' } : { group: '', version: 'v1' }),
  kind: KIND,
  scope: 'Namespaced',
});
const manager = await createManager({
  connection: CONNECTION === '' ? await loadConnection() : JSON.parse(CONNECTION),
  health: { host: '127.0.0.1', port: 0 },
  controllers: { cacheSyncTimeoutMs: Number(SYNC_TIMEOUT_MS) },
});
controllerManagedBy(manager)
  .for(watched, { startPolicy: START_POLICY === 'optional' ? 'optional' : 'required' })
  .complete(async () => undefined);
void manager.elected.catch(() => undefined);
try {
  await manager.run(setupSignalHandler());
} catch (error) {
  console.error(String(error));
  process.exitCode = 1;
}
