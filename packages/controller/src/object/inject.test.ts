import { describe, expect, it } from 'vitest';
import { inject, isInjectable, isMissingDependencyError, MissingDependencyError, provide } from './inject.js';

interface Parts {
  readonly client: string;
  readonly cache?: string | undefined;
}
const greeting = inject<Parts, string>(
  { client: true, cache: true },
  ({ client, cache = '' }) => `${client}, ${cache}`,
);

describe('inject', () => {
  it('makes its value of the dependencies, and leaves any other value as it is', () => {
    expect(provide<string, Parts>(greeting, { client: 'c', cache: 'd' }, 'x')).toBe('c, d');
    const value = { needs: ['client'], create: () => 'never' };
    for (const plain of [value, undefined, null, 'text', 5])
      expect(provide<unknown, Parts>(plain, { client: 'c' }, 'x')).toBe(plain);
    expect([greeting, value, undefined, null, 'text', inject].map(isInjectable)).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  it('names what is missing, and what there is', () => {
    const attempt = (): unknown =>
      provide<string, Parts & { more?: number }>(
        greeting,
        { client: 'c', cache: undefined, more: 1 },
        'controller "x"',
      );
    expect(attempt).toThrow('controller "x" needs "cache", which the manager does not have; it has client, more');
    try {
      attempt();
    } catch (error) {
      expect([isMissingDependencyError(error), error]).toMatchObject([true, { missing: ['cache'] }]);
    }
  });

  it.each<[unknown, boolean]>([
    [new MissingDependencyError('x', ['a'], []), true],
    [Object.assign(new Error('of another copy'), { code: 'KCTL_MISSING_DEPENDENCY' }), true],
    [new Error('plain'), false],
    [Object.assign(new Error('other'), { code: 'KCTL_OTHER' }), false],
    [{ code: 'KCTL_MISSING_DEPENDENCY' }, false],
    [undefined, false],
  ])('tells a missing dependency from %o: %s', (error, isMissing) => {
    expect(isMissingDependencyError(error)).toBe(isMissing);
  });

  it('refuses needs and a maker that are none', () => {
    expect(() => inject(undefined as never, () => 1)).toThrow('inject: needs');
    expect(() => inject({}, undefined as never)).toThrow('inject: create');
  });
});
