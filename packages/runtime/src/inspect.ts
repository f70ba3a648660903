import type { Inspection, RecordingOptions } from '@kctl/inspection';
import { type HttpHandler, type Manager } from '@kctl/manager';
import { isForeignRequest, isLoopback } from '@kctl/manager/internal';
import { numberProblem, type OptionNames, optionProblems } from '@kctl/options';
import { type Clock, systemClock } from '@kctl/wait';
import type { RuntimeInspectionOptions, RuntimeManagerOptions } from './runtime-options.js';

interface AllOptions extends RecordingOptions {
  readonly port?: number;
  readonly host?: string;
  readonly onListening?: unknown;
  readonly behindMetrics?: boolean;
}

const optionNames: OptionNames<AllOptions> = {
  port: true,
  host: true,
  onListening: true,
  behindMetrics: true,
  budgetBytes: true,
  maxRunsPerKey: true,
  recordSecretNames: true,
  recordErrorMessages: true,
};

/** Everything that is not valid, and everything that would show the operator to everyone. */
export function checkInspection({ inspection, metricsServer }: RuntimeManagerOptions): string[] {
  if (inspection === undefined) return [];
  const problems = optionProblems(inspection, optionNames, 'inspection');
  if (problems.length > 0) return problems;
  const { port, host, behindMetrics }: AllOptions = inspection;
  if (behindMetrics === true) {
    if (port !== undefined || host !== undefined) return ['inspection: give port or behindMetrics, not both'];
    if (metricsServer === undefined) return ['inspection.behindMetrics needs the option metricsServer'];
    const { host: metricsHost = '', listener } = metricsServer;
    return authenticates(metricsServer) || (listener === undefined && isLoopback(metricsHost))
      ? []
      : [
          'inspection.behindMetrics needs metrics that are protected: set metricsServer.filter, such as createAccessFilter of @kctl/manager, or serve it on a port of its own',
        ];
  }
  const problem = numberProblem('inspection.port', port, {
    most: 65_535,
    integer: true,
    remedy: '0 takes any free port',
  });
  if (problem !== undefined) return [problem];
  return host === undefined || isLoopback(host)
    ? []
    : [`inspection.host ${JSON.stringify(host)} is not a loopback address: use 127.0.0.1 and a port-forward`];
}

/** The recorder, if it is enabled; it is loaded only then. */
export async function loadInspection({
  inspection,
  clock,
}: {
  readonly inspection?: RuntimeInspectionOptions;
  readonly clock?: Clock;
}): Promise<Inspection | undefined> {
  if (inspection === undefined) return undefined;
  const { createInspection } = await import('@kctl/inspection');
  const {
    port: _port,
    host: _host,
    onListening: _onListening,
    behindMetrics: _behindMetrics,
    ...recording
  }: AllOptions = inspection;
  return createInspection({ ...recording, clock: clock ?? systemClock });
}

/** Serves what is recorded of a manager. */
export function serveInspection(
  manager: Pick<Manager, 'add' | 'addMetricsHandler'> & Parameters<Inspection['attach']>[0],
  inspection: Inspection,
  options: RuntimeInspectionOptions,
  metricsServer: RuntimeManagerOptions['metricsServer'],
): void {
  inspection.attach(manager);
  if (options.behindMetrics !== true) return void manager.add(inspection.server(withoutRecording(options)));
  const { handler } = inspection;
  manager.addMetricsHandler('/debug/kctl/', authenticates(metricsServer) ? handler : ofThisMachine(handler));
}

/** Whether the metrics server authenticates its clients. */
function authenticates(server: RuntimeManagerOptions['metricsServer']): boolean {
  return server?.filter !== undefined || server?.tls?.requestCert === true;
}

/**
 * Like the dedicated inspection server, because a page of another site can reach a loopback address under a host name
 * that resolves to it.
 */
function ofThisMachine(handler: HttpHandler): HttpHandler {
  return (request, response, context) => {
    if (!isForeignRequest(request)) return handler(request, response, context);
    response.writeHead(403, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('requests of other hosts and sites are refused\n');
    return true;
  };
}

function withoutRecording({
  port,
  host,
  onListening,
}: Exclude<RuntimeInspectionOptions, { readonly behindMetrics: true }>): Parameters<Inspection['server']>[0] {
  return { port, ...(host === undefined ? {} : { host }), ...(onListening === undefined ? {} : { onListening }) };
}
