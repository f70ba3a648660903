// A handler whose callback has a misspelled name would never be called: it is refused at each entrance, however it is made.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createSharedInformer, filterEvents } from '@kctl/informer';
import { describe, expect, it } from 'vitest';

const nothing = (): void => undefined;
class Base {
  onadd(): void {
    return undefined;
  }
}
class Derived extends Base {}
class Helpful {
  readonly queue: string[] = [];
  onAdd(): void {
    this.add('a');
  }
  add(item: string): void {
    this.queue.push(item);
  }
}

const listerWatcher = {
  list: async () => await Promise.reject(new Error('no server')),
  watch: async () => await Promise.reject(new Error('no server')),
};
const entrances: Readonly<Record<string, (handler: object) => unknown>> = {
  addEventHandler: (handler) => createSharedInformer({ kind: ConfigMap, listerWatcher }).addEventHandler(handler),
  filterEvents: (handler) => filterEvents(() => true, handler),
};

describe.each(Object.entries(entrances))('a handler of %s', (_name, take) => {
  it.each([
    ['onadd', { onadd: nothing }],
    ['onadd', { onAdd: nothing, onadd: nothing }],
    ['ONADD', { ONADD: nothing }],
    ['onadd', Object.create({ onadd: nothing }) as object],
    ['onadd', new Base()],
    ['onadd', new Derived()],
  ])('is refused with %s: %o', (name, handler) => {
    expect(() => take(handler)).toThrow(`unknown option "${name}" of the handler: did you mean "onAdd"?`);
  });

  it('is refused without any callback', () => {
    expect(() => take({ whenAdded: nothing })).toThrow('none of onEvent, onAdd, onUpdate, onDelete, but whenAdded');
  });

  it('may have other methods and fields', () => {
    expect(() => take(new Helpful())).not.toThrow();
    expect(() => take({})).not.toThrow();
  });
});
