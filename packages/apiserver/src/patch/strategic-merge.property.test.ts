// The patch that a client makes of two objects turns the first into the second, and keeps what a third party has added.
import { createStrategicPatch } from '@kctl/apimachinery/strategic-merge';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { at, objectsOf } from '@kctl/crd/internal/engine';
import { builtinKinds } from '../resource/builtin-table.js';
import { strategicMergePatch } from './strategic-merge.js';

const pod = builtinKinds().find(({ group, kind, version }) => group === '' && kind === 'Pod' && version === 'v1');

const name: fc.Arbitrary<string> = fc.constantFrom('a', 'b', 'c', 'd');
const named = <T extends { name: string }>(item: fc.Arbitrary<T>) =>
  fc.uniqueArray(item, { selector: (each) => each.name, minLength: 1, maxLength: 4 });
const container = fc.record(
  { name, image: name, args: fc.array(name, { maxLength: 2 }), env: named(fc.record({ name, value: name })) },
  { requiredKeys: ['name'] },
);
const volume = fc.oneof(
  fc.record({ name, emptyDir: fc.record({ medium: name }) }),
  fc.record({ name, configMap: fc.record({ name }) }),
);
const object = fc.record({
  metadata: fc.record(
    {
      labels: fc.dictionary(name, name, { maxKeys: 3 }),
      finalizers: fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
    },
    { requiredKeys: ['labels'] },
  ),
  spec: fc.record(
    { containers: named(container), volumes: named(volume), hostNetwork: fc.boolean() },
    { requiredKeys: ['containers'] },
  ),
});

const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

it('turns one object into the other on the server, beside what a third party has added', () => {
  if (pod === undefined) throw new Error('no Pod');
  const { struct } = pod;
  const patchOf = (original: object, modified: object) =>
    createStrategicPatch({ apiVersion: 'v1', kind: 'Pod' }, original, modified);
  fc.assert(
    fc.property(object, object, (first, second) => {
      const [original, modified] = [plain(first), plain(second)];
      const patch = patchOf(original, modified);
      expect(strategicMergePatch(original, plain(patch), struct)).toEqual(modified);
      const sidecar = { name: 'sidecar', image: 'x' };
      const present = plain(original);
      present.spec.containers.push(sidecar);
      const merged = objectsOf(at(strategicMergePatch(present, plain(patch), struct), 'spec', 'containers'));
      expect(merged.filter((each) => each['name'] !== 'sidecar')).toEqual(modified.spec.containers);
      expect(merged.filter((each) => each['name'] === 'sidecar')).toEqual([sidecar]);
    }),
    { numRuns: 500 },
  );
});
