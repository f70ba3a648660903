import type { Kind } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { AnyObject } from '../definition/node.js';
import { inventoryAnnotation } from './labels.js';

/** A kind and a namespace in which the primary has children; '' for a cluster-scoped kind. */
export interface Place {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
}

/** The places of a primary, as its annotation has them: `ConfigMap/shop,Deployment.apps/shop`, sorted. */
export class Inventory {
  readonly #places = new Map<string, Place>();

  static of(primary: AnyObject): Inventory {
    const inventory = new Inventory();
    const text: unknown = primary.metadata.annotations?.[inventoryAnnotation] ?? '';
    // Others may write the annotation. Entries that are not places are left out; a place too many costs a list.
    for (const entry of typeof text === 'string' ? text.split(',') : []) {
      const [, kind, group, namespace] = /^([A-Za-z0-9]+)(?:\.([a-z0-9.-]+))?(?:\/([a-z0-9-]+))?$/.exec(entry) ?? [];
      if (kind !== undefined) inventory.add({ group: group ?? '', kind, namespace: namespace ?? '' });
    }
    return inventory;
  }

  get places(): readonly Place[] {
    return [...this.#places.values()];
  }

  /** @returns whether it was not there */
  add(place: Place): boolean {
    const key = formatPlace(place);
    if (this.#places.has(key)) return false;
    this.#places.set(key, place);
    return true;
  }

  delete(place: Place): void {
    this.#places.delete(formatPlace(place));
  }

  toString(): string {
    return [...this.#places.keys()].toSorted().join(',');
  }
}

export function formatPlace(place: Place): string {
  return `${formatGroupKind(place)}${place.namespace === '' ? '' : `/${place.namespace}`}`;
}

export function placeOf(kind: Kind, namespace: string): Place {
  return { group: kind.group, kind: kind.kind, namespace: kind.scope === 'Cluster' ? '' : namespace };
}
