import { defineKind } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { ByteDecoder } from '../decoders/byte-decoder.js';
import { StoreIntake } from './store-intake.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });

function open(): { readonly decoder: ByteDecoder<KubeObject>; readonly intake: StoreIntake<KubeObject, Uint8Array> } {
  const decoder = new ByteDecoder<KubeObject>({
    ...{ kind: Thing, freeze: true, keepManagedFields: false, transform: undefined },
    fieldPaths: () => undefined,
    onSkip: () => undefined,
  });
  const nothing = (): void => undefined;
  const store = { add: nothing, update: nothing, delete: nothing, replace: nothing };
  return { decoder, intake: new StoreIntake(store, decoder, nothing) };
}

const item = (name: string, rest = ''): string =>
  `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"${name}","resourceVersion":"5"}${rest}}`;
const frame = (type: string, object: string): Uint8Array => Buffer.from(`{"type":"${type}","object":${object}}`);
/** Its header can be read, and the object cannot. */
const unreadable = item('x', ',"spec":{nonsense}');

describe('an intake of a foreign store', () => {
  it('keeps no bytes, neither of what was read nor of what cannot be', () => {
    const { decoder, intake } = open();
    intake.begin();
    for (const text of [item('a'), unreadable]) {
      intake.listItem(Buffer.from(text));
      intake.initialFrame(frame('ADDED', text));
      intake.liveFrame(frame('MODIFIED', text));
      intake.liveFrame(frame('DELETED', text));
    }
    expect(decoder.slabs.liveBytes).toBe(0);
  });

  it.each(['initialFrame', 'liveFrame'] as const)('has the status of the last ERROR (%s)', (read) => {
    const { intake } = open();
    intake.begin();
    expect(intake[read](frame('ADDED', item('a')))).toBe('upsert');
    expect(intake.status).toBeUndefined();
    intake[read](frame('ERROR', '{"kind":"Status","code":410}'));
    expect(intake.status).toMatchObject({ code: 410 });
    intake[read](frame('ADDED', item('b')));
    expect(intake.status).toMatchObject({ code: 410 });
  });

  it.each([
    ['an item', [Buffer.from(item('a'))], 1, false],
    ['an item twice', [Buffer.from(item('a')), Buffer.from(item('a'))], 1, false],
    ['an unreadable item', [Buffer.from(item('a')), Buffer.from(unreadable)], 1, true],
    ['bytes that are nothing', [Buffer.from(item('a')), Buffer.from('{')], 1, true],
  ])('commits a list of %s', async (_what, items, size, isIncomplete) => {
    const { intake } = open();
    intake.begin();
    for (const each of items) intake.listItem(each);
    expect(intake.replacementSize).toBe(size);
    await intake.commit('9');
    expect([intake.resourceVersion, intake.isIncomplete, intake.replacementSize]).toEqual(['9', isIncomplete, 0]);
    intake.begin();
    await intake.commit('10');
    expect([intake.resourceVersion, intake.isIncomplete]).toEqual(['10', false]);
    intake.begin();
    intake.abandon();
    await intake.commit('11');
    expect(intake.resourceVersion).toBe('10');
  });
});
