import type { SimulateOptions } from '@kctl/simulation';
import { applicationOperator } from './application.js';
import { probeOperator } from './probe.js';

/** What is simulated, by name. */
export const operators: Readonly<Record<string, () => SimulateOptions>> = {
  application: () => applicationOperator(),
  probe: () => probeOperator(),
};
