import { parentPort, workerData } from 'node:worker_threads';
import { createApiServer, type ApiServer } from './api-server.js';
import type { FaultHandle } from './faults/faults.js';
import type { WorkerServerOptions } from './api-server-options.js';
import type { WorkerCall, WorkerMessage, WorkerRequest } from './worker-protocol.js';

const faults: FaultHandle[] = [];

async function perform(server: ApiServer, call: WorkerCall): Promise<unknown> {
  switch (call.method) {
    case 'stop':
      await server.stop();
      return undefined;
    case 'kubeconfig':
      return server.kubeconfig(call.options);
    case 'snapshot':
      return server.snapshot();
    case 'restore':
      server.restore(call.snapshot);
      return undefined;
    case 'compact':
      return server.compact(call.revision);
    case 'journal':
      return server.journal.entries();
    case 'clearJournal':
      server.journal.clear();
      return undefined;
    case 'issueClientCertificate':
      return server.issueClientCertificate(call.user, call.groups);
    case 'issueToken':
      return server.issueToken(call.user, call.groups);
    case 'addFault':
      return faults.push(server.faults.add(call.fault)) - 1;
    case 'removeFault':
      faults[call.fault]?.remove();
      return undefined;
    case 'clearFaults':
      server.faults.clear();
      return undefined;
    case 'failover':
      await server.faults.failover({ downMs: call.downMs });
      return undefined;
  }
}

async function serve(options: WorkerServerOptions): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('worker-main runs in a worker thread only');
  const send = (message: WorkerMessage): void => port.postMessage(message);
  const server = createApiServer(options);
  try {
    await server.start();
  } catch (error) {
    send({ type: 'failed', error });
    return;
  }
  port.on('message', ({ id, call }: WorkerRequest) => {
    perform(server, call).then(
      (value) => {
        send({ type: 'result', id, value });
        if (call.method === 'stop') port.close();
      },
      (error: unknown) => send({ type: 'error', id, error }),
    );
  });
  const { url, certificateAuthority, token } = server;
  send({ type: 'ready', url, certificateAuthority, token });
}

/** The only sender is startApiServerWorker, whose parameter has this type. */
function isOptions(data: unknown): data is WorkerServerOptions {
  return typeof data === 'object' && data !== null;
}

const options: unknown = workerData;
await serve(isOptions(options) ? options : {});
