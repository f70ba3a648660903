import type { Manager } from '@kctl/manager';

/** What inspection asks of a manager; each of @kctl/manager is one. */
export type InspectedManager = Pick<
  Manager,
  'controllers' | 'clusters' | 'accessNeeds' | 'isLeader' | 'leaseAgeMs' | 'isPaused' | 'clock' | 'logger'
>;
