import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Service } from '@kctl/apimachinery/kinds/core/v1';
import {
  controllerManagedBy,
  createManager,
  webhookManagedBy,
  type RuntimeManager,
  type RuntimeManagerOptions,
} from '@kctl/runtime';
import { Application } from './application.js';
import { applicationConverter } from './conversion.js';
import { createDirectory, type Directory } from './directory.js';
import { createApplicationReconciler } from './reconciler.js';

/** Puts the operator together, and its converter where `options.webhook` says how to serve it; `manager.run(signal)` starts it. */
export async function createOperator(
  options: RuntimeManagerOptions,
  directory: Directory = createDirectory(),
): Promise<RuntimeManager> {
  const manager = await createManager(options);
  const { reconcile, finalizers } = createApplicationReconciler({
    events: manager.recorder('application-operator'),
    directory,
    clock: manager.clock,
  });
  controllerManagedBy(manager).for(Application).owns(Deployment).owns(Service).reconcile(reconcile, { finalizers });
  if (options.webhook !== undefined)
    webhookManagedBy(manager).for(Application).withConverter(applicationConverter).complete();
  return manager;
}
