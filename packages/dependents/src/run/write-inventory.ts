import { keyOf } from '@kctl/apimachinery';
import { mergePatch } from '@kctl/client';
import type { AnyObject, Definition } from '../definition/node.js';
import type { Inventory } from '../ownership/inventory.js';
import { inventoryAnnotation } from '../ownership/labels.js';
import type { Calls } from './run-context.js';

/** Writes the inventory to the primary. An empty one is removed. */
export async function writeInventory(
  calls: Calls,
  { primary: kind, fieldOwner }: Definition,
  { primary, inventory }: { readonly primary: AnyObject; readonly inventory: Inventory },
): Promise<void> {
  calls.beforeWrite();
  const text = inventory.toString();
  const { uid } = primary.metadata;
  // The uid: another primary of the name has other children.
  const metadata = {
    ...(uid === undefined ? {} : { uid }),
    annotations: { [inventoryAnnotation]: text === '' ? null : text },
  };
  await calls.client.patch(kind, keyOf(primary), mergePatch({ metadata }), { ...calls.abort, fieldOwner });
}
