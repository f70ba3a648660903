import type { ObjectHeader } from '@kctl/apimachinery/wire';
import type { InformerEvent } from './informer-provider.js';
import type { CreateEvent, DeleteEvent, ObjectEvent, UpdateEvent } from '../event/object-event.js';

/** An informer's event as ours; the objects are decoded when they are read. */
export function eventFrom<T>(event: InformerEvent<T>): ObjectEvent<T> {
  switch (event.type) {
    case 'add':
      return new InformerCreate(event);
    case 'update':
      return new InformerUpdate(event);
    case 'delete':
      return new InformerDelete(event);
  }
}

class InformerBacked<T> {
  readonly header: ObjectHeader;
  protected readonly event: InformerEvent<T>;

  constructor(event: InformerEvent<T>) {
    this.event = event;
    this.header = event.header;
  }

  get object(): T {
    return this.event.object;
  }
}

class InformerCreate<T> extends InformerBacked<T> implements CreateEvent<T> {
  readonly type = 'create';

  get isInInitialList(): boolean {
    return this.event.isInInitialList;
  }
}

class InformerUpdate<T> extends InformerBacked<T> implements UpdateEvent<T> {
  readonly type = 'update';

  get oldHeader(): ObjectHeader | undefined {
    return this.event.oldHeader;
  }

  get oldObject(): T {
    return this.event.oldObject ?? this.event.object;
  }
}

class InformerDelete<T> extends InformerBacked<T> implements DeleteEvent<T> {
  readonly type = 'delete';

  get deleteStateUnknown(): boolean {
    return this.event.finalStateUnknown;
  }
}
