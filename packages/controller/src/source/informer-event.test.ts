import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import { expect, it } from 'vitest';
import { objectEventOf } from './informer-event.js';
import type { InformerEvent } from './informer-provider.js';

const header = { name: 'a' } as ObjectHeader;
const oldHeader = { name: 'old' } as ObjectHeader;
const of = (more: Partial<InformerEvent<string>>): InformerEvent<string> => ({
  type: 'add',
  header,
  object: 'new',
  isInInitialList: false,
  finalStateUnknown: false,
  ...more,
});

it('makes events of a controller from those of an informer', () => {
  const added = objectEventOf(of({ isInInitialList: true }));
  expect(added).toMatchObject({ type: 'create', header });
  expect(added?.object).toBe('new');
  expect(added?.type === 'create' && added.isInInitialList).toBe(true);
  const updated = objectEventOf(of({ type: 'update', oldHeader, oldObject: 'old' }));
  expect(updated?.type === 'update' && [updated.object, updated.oldObject, updated.oldHeader]).toEqual([
    'new',
    'old',
    oldHeader,
  ]);
  const deleted = objectEventOf(of({ type: 'delete', finalStateUnknown: true }));
  expect(deleted?.type === 'delete' && deleted.deleteStateUnknown).toBe(true);
});

it('makes none for an object that only left the watched namespaces', () => {
  expect(objectEventOf(of({ type: 'delete', leftScope: true }))).toBeUndefined();
});
