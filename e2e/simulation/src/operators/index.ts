import type { SimulateOptions } from '@kctl/simulation';
import { applicationOperator } from './application.js';
import { changingOperator } from './changing.js';
import { chaosPodOperator } from './chaos-pod.js';
import { childrenOperator } from './children.js';
import { probeOperator } from './probe.js';
import { trainingJobOperator } from './training-job.js';
import { obedientOperator, workbenchOperator } from './workbench.js';

/** What is simulated, by name. */
export const operators: Readonly<Record<string, () => SimulateOptions>> = {
  application: () => applicationOperator(),
  'training-job': trainingJobOperator,
  'chaos-pod': chaosPodOperator,
  probe: probeOperator,
  workbench: workbenchOperator,
  changing: changingOperator,
  children: childrenOperator,
};

/** What runs where it is named alone: for defects that need it. */
export const namedOperators: Readonly<Record<string, () => SimulateOptions>> = {
  ...operators,
  obedient: obedientOperator,
};
