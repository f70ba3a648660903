// Time from nothing to a server that answers, and what it takes when it has nothing to do:
// start.ts <embedded|real|in-process> start
import { createApiServer } from '@kctl/apiserver';
import { printSample } from '../harness/measure.js';
import { startEmbedded, startReal } from '../servers/start.js';
import { cpuMsOf, residentMbOf } from './processes.js';

const restMs = 1000;
const [kind = 'embedded'] = process.argv.slice(2);

if (kind === 'in-process') {
  const start = performance.now();
  const server = createApiServer();
  await server.start();
  const wallMs = performance.now() - start;
  await server.stop();
  printSample({ ops: 1, wallMs, cpuMs: 0 });
} else {
  const start = performance.now();
  const server = kind === 'real' ? await startReal() : await startEmbedded();
  const wallMs = performance.now() - start;
  const cpuMs = cpuMsOf(server.info.pids);
  await new Promise((resolve) => setTimeout(resolve, restMs));
  const residentMb = residentMbOf(server.info.pids);
  await server.stop();
  printSample({ ops: 1, wallMs, cpuMs, ...{ residentMb } });
}
