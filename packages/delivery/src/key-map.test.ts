import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyMap } from './key-map.js';

const sizes = (map: KeyMap<unknown>): number[] => [map.size, [...map.entries()].length];

describe('KeyMap', () => {
  it('is a map, whatever comes and goes, before and after it is divided', () => {
    const step = fc.tuple(fc.constantFrom('set', 'set', 'delete'), fc.nat(9), fc.string({ maxLength: 3 }));
    fc.assert(
      fc.property(fc.constantFrom(0, 4090, 9000), fc.array(step, { maxLength: 60 }), (filled, steps) => {
        const [map, model] = [new KeyMap<number>(), new Map<string, number>()];
        for (let at = 0; at < filled; at++) {
          map.set(`k${at}`, at);
          model.set(`k${at}`, at);
        }
        for (const [verb, value, key] of steps)
          if (verb === 'set') {
            map.set(key, value);
            model.set(key, value);
          } else expect(map.delete(key)).toBe(model.delete(key));
        for (const [, , key] of steps) expect([map.has(key), map.get(key)]).toEqual([model.has(key), model.get(key)]);
        expect(new Map(map.entries())).toEqual(model);
        expect(sizes(map)).toEqual([model.size, model.size]);
      }),
      { numRuns: 60 },
    );
  });

  it.each<[string, (at: number) => string]>([
    ['numbered names', (at) => `default/thing-${at}`],
    ['names with a common end', (at) => `default/${at}-controller-manager`],
    ['a namespace each', (at) => `namespace-${at}/config`],
    ['random names', (at) => `default/web-${Math.imul(at, 2_654_435_761).toString(36)}`],
    ['characters beyond ASCII', (at) => `ключ/${at}`],
  ])('never has a table to copy that is large: %s', (_what, name) => {
    const map = new KeyMap<true>();
    for (let at = 0; at < 200_000; at++) map.set(name(at), true);
    expect(map.size).toBe(200_000);
    expect(map.largestTable).toBeLessThan(2_000);
  });

  it('is empty again when everything has gone', () => {
    const map = new KeyMap<number>();
    for (let at = 0; at < 10_000; at++) map.set(`k${at}`, at);
    for (let at = 0; at < 10_000; at++) map.delete(`k${at}`);
    expect(sizes(map)).toEqual([0, 0]);
    expect(map.tables).toBe(1);
  });
});
