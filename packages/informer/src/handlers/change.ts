import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import { formatKey } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import type { StoredObject } from '@kctl/cache-index';
import type { InformerEvent } from './event.js';

/** Properties of a change besides the versions. */
export interface ChangeFlags {
  readonly isInInitialList?: boolean;
  readonly finalStateUnknown?: boolean;
  readonly isResync?: boolean;
  readonly leftScope?: boolean;
}

const noFlags: ChangeFlags = {};

/** One change of one object, shared by all handlers that receive it. */
export class Change<T extends KubeObject> implements InformerEvent<T> {
  readonly type: 'add' | 'update' | 'delete';
  /** The version after the change; for a delete the last known one. */
  readonly current: StoredObject<T>;
  readonly previous: StoredObject<T> | undefined;
  readonly #flags: ChangeFlags;
  #key: string | undefined;

  constructor(
    type: 'add' | 'update' | 'delete',
    current: StoredObject<T>,
    previous: StoredObject<T> | undefined,
    flags: ChangeFlags = noFlags,
  ) {
    this.type = type;
    this.current = current;
    this.previous = previous;
    this.#flags = flags;
  }

  get key(): string {
    return (this.#key ??= formatKey(this.current));
  }

  get header(): ObjectHeader {
    return this.current;
  }

  get oldHeader(): ObjectHeader | undefined {
    return this.previous;
  }

  get object(): DeepReadonly<T> {
    return this.current.object;
  }

  get oldObject(): DeepReadonly<T> | undefined {
    return this.previous?.object;
  }

  get isInInitialList(): boolean {
    return this.#flags.isInInitialList ?? false;
  }

  get finalStateUnknown(): boolean {
    return this.#flags.finalStateUnknown ?? false;
  }

  get leftScope(): boolean {
    return this.#flags.leftScope ?? false;
  }

  get isResync(): boolean {
    return this.#flags.isResync ?? false;
  }
}
