import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { controllerManagedBy, type RuntimeManager } from '@kctl/runtime';
import { Greeting } from '../api/greeting.ts';

/** Keeps a ConfigMap with the message of each Greeting. It runs at any moment, any number of times. */
export function addGreetingController(manager: RuntimeManager): void {
  controllerManagedBy(manager)
    .for(Greeting)
    .owns(ConfigMap)
    .reconcile(async ({ metadata, spec }, { apply }) => {
      await apply(ConfigMap, { metadata: { name: metadata.name }, data: { message: spec.message } });
      return { status: { published: spec.message } };
    });
}
