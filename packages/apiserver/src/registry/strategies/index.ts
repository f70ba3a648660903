import type { KindRef } from '../../resource/resource.js';
import type { KindStrategy } from '../kind-strategy.js';
import { accessStrategies } from './access.js';
import { coreStrategies } from './core.js';
import { eventStrategies } from './events.js';
import { podStrategies } from './pods.js';
import { serviceStrategies } from './services.js';
import { storageStrategies } from './storage.js';
import { systemStrategies } from './system.js';
import { batchStrategies } from './batch.js';
import { appStrategies } from './workloads.js';

const strategies: Readonly<Record<string, KindStrategy>> = {
  ...accessStrategies,
  ...coreStrategies,
  ...eventStrategies,
  ...podStrategies,
  ...serviceStrategies,
  ...storageStrategies,
  ...systemStrategies,
  ...appStrategies,
  ...batchStrategies,
};

/** The strategy of a built-in kind, from its version if it has a separate one, else for all its versions. */
export function strategyOf({ group, version, kind }: KindRef): KindStrategy {
  return strategies[`${group}/${version}/${kind}`] ?? strategies[`${group}/${kind}`] ?? {};
}
