import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameFilter } from './index.js';

describe('nameFilter', () => {
  it.each([
    [['demo'], ['demo'], ['demo-2', 'other', 'dem', '']],
    [['team-*'], ['team-', 'team-red', 'team-red-test'], ['team', 'a-team-red']],
    [['team-*', '!team-*-test'], ['team-red'], ['team-red-test', 'other']],
    [['team-*', '!team-*-test', 'team-blue-test'], ['team-red', 'team-blue-test'], ['team-red-test']],
    [['!kube-*'], ['demo', 'default'], ['kube-system', 'kube-public']],
    [['!kube-*', 'kube-public'], ['demo', 'kube-public'], ['kube-system']],
    [['v1.?'], ['v1.0', 'v1.x'], ['v1.10', 'v1x0', 'v1.']],
    [['*'], ['anything', 'a.b'], []],
  ])('%j chooses %j and not %j', (patterns, chosen, others) => {
    const filter = nameFilter(patterns);
    expect(chosen.filter((name) => !filter.matches(name))).toEqual([]);
    expect(others.filter((name) => filter.matches(name))).toEqual([]);
  });

  it('says which names it chooses where it can', () => {
    expect(nameFilter(['b', 'a', 'b']).names).toEqual(['a', 'b']);
    expect(nameFilter(['b', 'a', '!b']).names).toEqual(['a']);
    expect(nameFilter(['b', '!*']).names).toEqual([]);
    expect(nameFilter(['!b', 'a']).names).toBeUndefined();
    expect(nameFilter(['a*']).names).toBeUndefined();
  });

  it('agrees with a reading of the rule from left to right, and with its list of names', () => {
    const name = fc.stringMatching(/^[ab.]{1,4}$/);
    const pattern = fc.stringMatching(/^!?[ab.*?]{1,4}$/);
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 5 }), fc.array(name), (patterns, names) => {
        const filter = nameFilter(patterns);
        for (const one of names) {
          let isChosen = patterns[0]?.startsWith('!') === true;
          for (const text of patterns) if (glob(text.replace('!', ''), one)) isChosen = !text.startsWith('!');
          expect(filter.matches(one)).toBe(isChosen);
          if (filter.names !== undefined) expect(filter.names.includes(one)).toBe(isChosen);
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each([[[]], [['']], [['!']], [['Team']], [['a b']], [['!!a']], [[7 as never]], [['a/b']]])(
    'refuses %j',
    (patterns) => {
      expect(() => nameFilter(patterns)).toThrow(TypeError);
    },
  );
});

/** By recursion, not by an expression. */
function glob(pattern: string, name: string): boolean {
  if (pattern === '') return name === '';
  const [head, rest] = [pattern[0], pattern.slice(1)];
  if (head === '*') return glob(rest, name) || (name !== '' && glob(pattern, name.slice(1)));
  return name !== '' && (head === '?' || head === name[0]) && glob(rest, name.slice(1));
}
