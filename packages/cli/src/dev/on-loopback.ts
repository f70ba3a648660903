import type { CliIo } from '../io.js';
import { freePort, isFree } from './free-port.js';
import { givenSetting } from './given-settings.js';

/** Servers of an operator that a cluster reaches, and that only this machine has to reach in development. */
const variables = {
  healthProbeBindAddress: 'HEALTH_PROBE_BIND_ADDRESS',
  metricsBindAddress: 'METRICS_BIND_ADDRESS',
} as const;

const host = '127.0.0.1';

/** The addresses at which an operator serves. */
export type BindAddresses = Readonly<Record<keyof typeof variables, string>>;

/**
 * Variables by which an operator serves its metrics and health on this machine alone, at its configured ports, or at
 * free ones if another program has those, such as a second `kctl dev`. Serving metrics to the whole network would cause
 * a warning. An address given by flag, variable or file is kept.
 */
export async function onLoopback(
  io: Pick<CliIo, 'environment' | 'cwd' | 'err'>,
  given: readonly string[],
  addresses: BindAddresses,
): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const name of ['healthProbeBindAddress', 'metricsBindAddress'] as const) {
    if (!addresses[name].startsWith(':') || givenSetting(io, given, name) !== undefined) continue;
    const wanted = Number(addresses[name].slice(1));
    const port = (await isFree(wanted, host)) ? wanted : await freePort(host);
    if (port !== wanted) io.err(`${name} is ${host}:${port}, because another program has port ${wanted}\n`);
    found[variables[name]] = `${host}:${port}`;
  }
  return found;
}
