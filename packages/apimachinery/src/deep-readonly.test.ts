import { describe, expect, expectTypeOf, it } from 'vitest';
import { deepFreeze, mutableCopy } from './deep-readonly.js';

describe('mutableCopy', () => {
  it('copies at every depth and leaves the original alone', () => {
    const frozen = deepFreeze({ metadata: { labels: { a: 'b' } }, spec: { list: [{ x: 1 }] } });
    const copy = mutableCopy(frozen);
    copy.metadata.labels.a = 'c';
    copy.spec.list.push({ x: 2 });
    copy.spec.list[0]!.x = 9;
    expect(frozen).toEqual({ metadata: { labels: { a: 'b' } }, spec: { list: [{ x: 1 }] } });
    expect(copy).toEqual({ metadata: { labels: { a: 'c' } }, spec: { list: [{ x: 9 }, { x: 2 }] } });
    expectTypeOf(copy).toEqualTypeOf<{ metadata: { labels: { a: string } }; spec: { list: { x: number }[] } }>();
  });

  it('keeps null, bigint, and a member called __proto__', () => {
    const source: unknown = JSON.parse('{"a":null,"__proto__":{"b":1}}');
    const copy = mutableCopy({ source, big: 2n ** 60n });
    expect(Object.keys(copy.source as object)).toEqual(['a', '__proto__']);
    expect(Object.getPrototypeOf(copy.source)).toBe(Object.prototype);
    expect(copy.big).toBe(2n ** 60n);
  });
});

describe('deepFreeze', () => {
  it('makes writing throw at every depth, and returns what it was given', () => {
    const object = { a: { b: [{ c: 1 }] } };
    const frozen = deepFreeze(object);
    expect(frozen).toBe(object);
    expect(() => (object.a.b[0]!.c = 2)).toThrow(TypeError);
    expect(() => object.a.b.push({ c: 3 })).toThrow(TypeError);
    // @ts-expect-error — readonly by type, too
    expect(() => (frozen.a.b = [])).toThrow(TypeError);
  });
});
