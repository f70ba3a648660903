import { describe, expect, it } from 'vitest';
import { resolveNamespaces } from './namespaces.js';

const at = (own?: string, WATCH_NAMESPACE?: string) => ({ own, environment: { WATCH_NAMESPACE } });

describe('the namespaces of a manager', () => {
  it('are all, the own one, those of the environment, or those of a list', () => {
    expect(resolveNamespaces('all', at('shop'))).toEqual({ scopes: undefined });
    expect(resolveNamespaces('own', at('shop'))).toEqual({ scopes: { shop: {} } });
    expect(resolveNamespaces('environment', at('shop', ' a, b ,'))).toEqual({ scopes: { a: {}, b: {} } });
    expect(resolveNamespaces('environment', at('shop', ''))).toEqual({ scopes: undefined });
    expect(resolveNamespaces('environment', at('shop'))).toEqual({ scopes: undefined });
    expect(resolveNamespaces(['b', 'a', '!b'], at())).toEqual({ scopes: { a: {} } });
  });

  it('are followed where they are patterns or labels', () => {
    expect(resolveNamespaces(['team-*', '!team-x'], at())).toEqual({ selection: { names: ['team-*', '!team-x'] } });
    expect(resolveNamespaces('environment', at(undefined, '!kube-*'))).toEqual({ selection: { names: ['!kube-*'] } });
    const selection = { labelSelector: 'watched=yes', names: ['team-*'] };
    expect(resolveNamespaces(selection, at())).toEqual({ selection });
  });

  it.each([
    ['own', at(), "namespaces 'own': the namespace of this process is not known"],
    ['mine', at(), 'namespaces "mine" is not valid: expected "all", "own", "environment", a list of names'],
    [['Team'], at(), 'name pattern "Team" is not valid'],
    [[], at(), 'the list is empty'],
    [['a', '!a'], at(), 'choose no namespace'],
    [{ labels: 'a=b' }, at(), 'unknown option "namespaces.labels"'],
    [{ names: ['A'] }, at(), 'name pattern "A" is not valid'],
    ['environment', at('x', 'a b'), 'name pattern "a b" is not valid'],
  ])('are refused where they cannot be: %j', (namespaces, sources, message) => {
    expect(() => resolveNamespaces(namespaces as never, sources)).toThrow(message);
  });
});
