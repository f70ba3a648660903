import { beforeEach, describe, expect, it } from 'vitest';
import { compileJsonPath, isJsonPathError } from './json-path.js';

describe('compileJsonPath', () => {
  const root = {
    spec: {
      size: 1,
      list: [
        { n: 'a', v: 1 },
        { n: 'b', v: 2 },
      ],
      'a.b': 'dotted',
    },
    metadata: { labels: { 'ex.io/x': 'y' } },
  };
  it.each([
    ['.spec.size', [1]],
    ['.spec.none', []],
    ['.spec.list[0].n', ['a']],
    ['.spec.list[-1].n', ['b']],
    ['.spec.list[*].v', [1, 2]],
    ['.spec.list[?(@.n=="b")].v', [2]],
    ['.spec.list[?(@.v>1)].n', ['b']],
    ['.spec.list[0:1].n', ['a']],
    [".spec['a.b']", ['dotted']],
    ['.metadata.labels.ex\\.io/x', ['y']],
    ['..v', [1, 2]],
    ['{.spec.size}', [1]],
  ])('%s', (path, values) => {
    expect(compileJsonPath(path)(root)).toEqual(values);
  });
  it('refuses what it cannot read', () => {
    expect(() => compileJsonPath('.a[')).toThrow('unterminated array');
    expect(() => compileJsonPath('.a[x]')).toThrow('cannot read');
  });
  it.each(['.a\\', '{.a\\}', '\\', '.a.\\', '.metadata.labels.ex\\.io\\'])(
    'refuses %j, which ends in an escape',
    (path) => {
      expect(() => compileJsonPath(path)).toThrow(expect.toSatisfy(isJsonPathError));
    },
  );
  it('reads an escaped line end as it is', () => {
    expect(compileJsonPath('.a\\\nb')({ 'a\nb': 1 })).toEqual([1]);
  });

  describe('ends early and finds nothing', () => {
    let visits = 0;
    /** Each level has twice as many ways to the bottom; what is read is counted. */
    const doubled = (levels: number): unknown => {
      let inner: unknown = 1;
      for (let level = 0; level < levels; level++) {
        const below = inner;
        inner = {
          get a() {
            visits++;
            return below;
          },
          get b() {
            visits++;
            return below;
          },
        };
      }
      return inner;
    };
    beforeEach(() => {
      visits = 0;
    });

    it.each(['..', '..*..*..*', '..a..b', '.*.*.*.*.*.*.*.*.*.*.*.*.*.*.*.*', '..[?(@..a)]', '..[?(@..a>2)]..a'])(
      '%s of an object that multiplies',
      (path) => {
        expect(compileJsonPath(path)(doubled(20))).toEqual([]);
        expect(visits).toBeLessThan(250_000);
      },
    );

    it.each(['..', '[*]', '[0:]', '..[?(@.a>0)]', '[?(@>0)]'])('%s of a list of 20,000', (path) => {
      expect(compileJsonPath(path)(Array.from({ length: 20_000 }, (_, index) => index + 1))).toEqual([]);
    });

    it('but not below the limits, nor for values that are nested deeply', () => {
      expect(compileJsonPath('[*]')(Array.from({ length: 10_000 }, () => 1))).toHaveLength(10_000);
      let deep: unknown = { end: 1 };
      for (let level = 0; level < 9_000; level++) deep = { a: deep };
      expect(compileJsonPath('..end')(deep)).toEqual([1]);
    });
  });
});
