import type { Manager } from '@kctl/manager';

/** The part of a manager that inspection uses, implemented by each manager of @kctl/manager. */
export type InspectedManager = Pick<
  Manager,
  'controllers' | 'clusters' | 'accessNeeds' | 'isLeader' | 'leaseAgeMs' | 'isPaused' | 'clock' | 'logger'
>;
