import { __Kind__ } from '@kctl/apimachinery/kinds/__Module__';
import { controllerManagedBy, type RuntimeManager } from '@kctl/runtime';

/** The label of objects that get a greeting, and the annotation with the greeting. */
const label = '__group__/greet';
const annotation = '__group__/greeting';

/** Keeps the greeting of each __Kind__ with the label. It runs at any moment, any number of times. */
export function add__Kind__Controller(manager: RuntimeManager): void {
  controllerManagedBy(manager)
    .for(__Kind__)
    .needs(__Kind__, ['patch'])
    .onlyNeeds(__Kind__, [], { subresource: 'status' }) //?status
    .reconcile(async ({ metadata }, { client, signal }) => {
      const name = metadata.labels?.[label];
      const greeting = name === undefined ? undefined : `Hello ${name}`;
      if (metadata.annotations?.[annotation] === greeting) return;
      const body = { metadata: { annotations: { [annotation]: greeting ?? null } } };
      await client.patch(__Kind__, metadata, { type: 'merge', body }, { signal });
    });
}
