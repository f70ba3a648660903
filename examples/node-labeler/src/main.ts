import { createHttpClient, loadConnection } from '@kctl/client-http';
import { runNodeLabeler } from './labeler.js';

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());

try {
  await using client = createHttpClient({ connection: await loadConnection() });
  await runNodeLabeler({ client, signal: stop.signal, log: (line) => console.log(line) });
  console.log('stopped');
} catch (error) {
  if (!stop.signal.aborted) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
