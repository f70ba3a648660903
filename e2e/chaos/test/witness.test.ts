import { headerOf } from '@kctl/apimachinery/internal/wire';
import type { KubeObject } from '@kctl/apimachinery';
import type { InformerEvent } from '@kctl/informer';
import { expect, it } from 'vitest';
import { createWitness } from '../src/informer/witness.js';

function event(type: 'add' | 'update' | 'delete', resourceVersion: string, old?: string): InformerEvent<KubeObject> {
  const at = (version: string): KubeObject => ({
    metadata: { namespace: 'it', name: 'one', resourceVersion: version },
  });
  return {
    type,
    key: 'it/one',
    header: headerOf(at(resourceVersion)),
    oldHeader: old === undefined ? undefined : headerOf(at(old)),
    object: at(resourceVersion),
    oldObject: old === undefined ? undefined : at(old),
    isInInitialList: false,
    finalStateUnknown: false,
    leftScope: false,
    isResync: false,
  };
}

function complaints(...events: InformerEvent<KubeObject>[]): string[] {
  const found: string[] = [];
  const witness = createWitness<KubeObject>('it', (message) => void found.push(message));
  for (const each of events) void witness.onEvent?.(each);
  return found;
}

it('accepts what is legal', () => {
  expect(
    complaints(
      event('add', '1'),
      event('update', '9', '1'),
      event('update', '10', '9'),
      event('delete', '11'),
      event('add', '12'),
    ),
  ).toEqual([]);
});

it.each([
  ['an add of what is there', [event('add', '1'), event('add', '2')], 'it was there already, at 1'],
  ['an update of what is not there', [event('update', '2', '1')], 'it was never added'],
  ['a delete of what is not there', [event('delete', '2')], 'it was never added'],
  ['a version that was missed', [event('add', '1'), event('update', '3', '2')], 'the old version is 2, seen was 1'],
  ['a step back', [event('add', '10'), event('update', '9', '10')], 'it is not newer than 10'],
])('complains of %s', (_name, events, message) => {
  expect(complaints(...events)[0]).toContain(message);
});

it('complains of events after the handler was removed', () => {
  const found: string[] = [];
  const witness = createWitness<KubeObject>('it', (message) => void found.push(message));
  witness.close();
  void witness.onEvent?.(event('add', '1'));
  expect(found[0]).toContain('after the handler was removed');
});
