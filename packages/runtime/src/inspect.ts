import type { Inspection, RecordingOptions } from '@kctl/inspection';
import { isLoopback, type Manager } from '@kctl/manager';
import { type Clock, numberProblem, type OptionNames, optionProblems, systemClock } from '@kctl/wait';
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
    const isProtected =
      metricsServer.filter !== undefined ||
      metricsServer.tls?.requestCert === true ||
      isLoopback(metricsServer.host ?? '');
    return isProtected
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

/** The recorder, where it is asked for; it is loaded for those alone who do. */
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
): void {
  inspection.attach(manager);
  if (options.behindMetrics === true) manager.addMetricsHandler('/debug/kctl/', inspection.handler);
  else manager.add(inspection.server(withoutRecording(options)));
}

function withoutRecording({
  port,
  host,
  onListening,
}: Exclude<RuntimeInspectionOptions, { readonly behindMetrics: true }>): Parameters<Inspection['server']>[0] {
  return { port, ...(host === undefined ? {} : { host }), ...(onListening === undefined ? {} : { onListening }) };
}
