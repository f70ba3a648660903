import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Service } from '@kctl/apimachinery/kinds/core/v1';
import { controllerManagedBy, createManager, type RuntimeManager, type RuntimeManagerOptions } from '@kctl/runtime';
import { Application } from './application.js';
import { createDirectory, type Directory } from './directory.js';
import { createApplicationReconciler } from './reconciler.js';

/** Puts the operator together; `manager.run(signal)` starts it. */
export async function createOperator(
  options: RuntimeManagerOptions,
  directory: Directory = createDirectory(),
): Promise<RuntimeManager> {
  const manager = await createManager(options);
  controllerManagedBy(manager)
    .for(Application)
    .owns(Deployment)
    .owns(Service)
    .complete(
      createApplicationReconciler({
        client: manager.client,
        events: manager.recorder('application-operator'),
        directory,
        clock: manager.clock,
      }),
    );
  return manager;
}
