import type { CliIo } from '../io.js';
import { givenSetting } from './given-settings.js';

/** Servers of an operator that a cluster reaches, and that only this machine has to reach in development. */
const variables = {
  healthProbeBindAddress: 'HEALTH_PROBE_BIND_ADDRESS',
  metricsBindAddress: 'METRICS_BIND_ADDRESS',
} as const;

/** The addresses at which an operator serves. */
export type BindAddresses = Readonly<Record<keyof typeof variables, string>>;

/**
 * Variables by which an operator serves its metrics and health on this machine alone, at its configured ports. Serving
 * metrics to the whole network would cause a warning. An address given by flag, variable or file is kept.
 */
export function onLoopback(
  io: Pick<CliIo, 'environment' | 'cwd'>,
  given: readonly string[],
  addresses: BindAddresses,
): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of ['healthProbeBindAddress', 'metricsBindAddress'] as const)
    if (addresses[name].startsWith(':') && givenSetting(io, given, name) === undefined)
      found[variables[name]] = `127.0.0.1${addresses[name]}`;
  return found;
}
