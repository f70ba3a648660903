import { __ChildImport__ } from '@kctl/apimachinery/kinds/core/v1';
import { controllerManagedBy, type RuntimeManager } from '@kctl/runtime';
import { __Kind__ } from '../api/__kind-file__.ts';

/** Keeps a ConfigMap with the message of each __Kind__. It runs at any moment, any number of times. */
export function add__Kind__Controller(manager: RuntimeManager): void {
  controllerManagedBy(manager)
    .for(__Kind__)
    .owns(__Child__)
    .reconcile(async ({ metadata, spec }, { apply }) => {
      await apply(__Child__, { metadata: { name: metadata.name }, data: { message: spec.message } });
      return { status: { published: spec.message } };
    });
}
