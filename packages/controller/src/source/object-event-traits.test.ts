import { headerOf } from '@kctl/apimachinery/internal/wire';
import { describe, expect, it } from 'vitest';
import type { ObjectEvent } from '../event/object-event.js';
import { nameOfEvent, objectEventTraits } from './object-event-traits.js';

const generic = (object: unknown): ObjectEvent<unknown> => ({ type: 'generic', object });

describe('the name of the object of an event', () => {
  it.each<[unknown, string | undefined]>([
    [{ metadata: { name: 'a', namespace: 'n' } }, 'n/a'],
    [{ metadata: { name: 'a' } }, 'a'],
    [{ metadata: { name: 'a', namespace: '' } }, 'a'],
    [{ metadata: { name: 'a', namespace: 5 } }, 'a'],
    [{ metadata: { name: 5 } }, undefined],
    [{ metadata: {} }, undefined],
    [{ metadata: null }, undefined],
    [{ metadata: 'a' }, undefined],
    [{}, undefined],
    [null, undefined],
    [undefined, undefined],
    ['a', undefined],
  ])('of %o is %s', (object, name) => {
    expect(nameOfEvent(generic(object))).toBe(name);
  });

  it('is read from the header, without the object', () => {
    for (const [metadata, name] of [
      [{ name: 'a', namespace: 'n' }, 'n/a'],
      [{ name: 'a' }, 'a'],
    ] as const) {
      const event = {
        type: 'generic',
        header: headerOf({ metadata }),
        get object(): unknown {
          throw new Error('decoded');
        },
      } as const;
      expect(nameOfEvent(event)).toBe(name);
    }
  });
});

describe('events of one object that wait', () => {
  const traits = objectEventTraits<string>(({ object }) => object.slice(0, 1));
  const header = headerOf({ metadata: { name: 'h' } });
  const oldHeader = headerOf({ metadata: { name: 'old' } });
  const create: ObjectEvent<string> = { type: 'create', object: 'a1', isInInitialList: true };
  const update: ObjectEvent<string> = { type: 'update', oldObject: 'a1', object: 'a2', oldHeader };
  const later: ObjectEvent<string> = { type: 'update', oldObject: 'a2', object: 'a3', header };
  const remove: ObjectEvent<string> = { type: 'delete', object: 'a3', deleteStateUnknown: false };
  const other: ObjectEvent<string> = { type: 'generic', object: 'a4' };

  it('are known by identity and kind of change, and none is taken for a repetition', () => {
    const events = [create, update, remove, other];
    expect(events.map((event) => traits.keyOf(event))).toEqual(['a', 'a', 'a', 'a']);
    expect(events.map((event) => traits.typeOf(event))).toEqual(['add', 'update', 'delete', 'update']);
    expect(events.map((event) => traits.isResync(event))).toEqual([false, false, false, false]);
  });

  it('merge to a create of the newest state', () => {
    expect(traits.mergeAdd(create, later)).toMatchObject({
      type: 'create',
      object: 'a3',
      isInInitialList: true,
      header,
    });
    expect(traits.mergeAdd({ ...create, isInInitialList: false }, later)).toMatchObject({ isInInitialList: false });
    expect(traits.mergeAdd(other, later)).toBe(later);
  });

  it('merge to one update from the oldest state to the newest', () => {
    expect(traits.mergeUpdate(update, later)).toMatchObject({
      type: 'update',
      oldObject: 'a1',
      object: 'a3',
      header,
      oldHeader,
    });
    expect(traits.mergeUpdate(other, later)).toBe(later);
    expect(traits.mergeUpdate(update, other)).toBe(other);
  });
});
