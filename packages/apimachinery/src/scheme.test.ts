import { describe, expect, it } from 'vitest';
import { ConfigMap, Pod } from './kinds/generated/core/v1.js';
import { Deployment } from './kinds/generated/apps/v1.js';
import { HorizontalPodAutoscaler as HpaV1 } from './kinds/generated/autoscaling/v1.js';
import { HorizontalPodAutoscaler as HpaV2 } from './kinds/generated/autoscaling/v2.js';
import { isNoKindMatch } from './no-kind-match.js';
import { compareVersions, createScheme } from './scheme.js';
import { untyped } from './kind.js';

describe('Scheme', () => {
  const scheme = createScheme([Pod, Deployment, HpaV1, HpaV2]);

  it('finds tokens by name, by resource and by object', () => {
    expect(scheme.kindFor({ group: 'apps', version: 'v1', kind: 'Deployment' })).toBe(Deployment);
    expect(scheme.kindForResource({ group: '', version: 'v1', resource: 'pods' })).toBe(Pod);
    expect(scheme.kindForResource({ group: 'apps', version: 'v1', resource: 'pods' })).toBeUndefined();
    expect(scheme.kindOf({ apiVersion: 'apps/v1', kind: 'Deployment' })).toBe(Deployment);
    expect(scheme.has(ConfigMap)).toBe(false);
  });

  it('prefers the highest version where none is named', () => {
    expect(scheme.kindFor({ group: 'autoscaling', kind: 'HorizontalPodAutoscaler' })).toBe(HpaV2);
    const wanted = { group: 'autoscaling', version: undefined, kind: 'HorizontalPodAutoscaler' };
    expect(scheme.kindFor(wanted)).toBe(HpaV2);
  });

  it('says which kind it does not know', () => {
    expect(() => scheme.kindFor({ group: 'example.com', version: 'v1', kind: 'Foo' })).toThrow(
      'no match for kind example.com/v1, Kind=Foo',
    );
    expect(() => scheme.kindFor({ group: 'example.com', kind: 'Foo' })).toThrow(expect.toSatisfy(isNoKindMatch));
    expect(() => scheme.kindOf({ kind: 'Pod' })).toThrow('lacks its apiVersion');
    for (const given of [undefined, null, 'Pod']) {
      expect(() => scheme.kindFor(given as never)).toThrow('scheme: the kind is');
      expect(() => scheme.kindOf(given as never)).toThrow('scheme: the object is');
    }
  });

  it('grows without changing: a later token replaces one of the same name', () => {
    const loose = untyped(Pod);
    const grown = scheme.with(ConfigMap, loose);
    expect(grown.kindOf({ apiVersion: 'v1', kind: 'Pod' })).toBe(loose);
    expect(grown.kinds).toHaveLength(5);
    expect(scheme.has(ConfigMap)).toBe(false);
    expect(scheme.kinds).toHaveLength(4);
  });
});

describe('compareVersions', () => {
  it('orders as Kubernetes does', () => {
    const versions = [
      'foo10',
      'v1alpha1',
      'v2',
      'v10',
      'v1',
      'v3beta1',
      'v12alpha1',
      'v11beta2',
      'foo1',
      'v11alpha2',
      'v10beta3',
    ];
    expect(versions.sort((a, b) => compareVersions(b, a))).toEqual([
      'v10',
      'v2',
      'v1',
      'v11beta2',
      'v10beta3',
      'v3beta1',
      'v12alpha1',
      'v11alpha2',
      'v1alpha1',
      'foo1',
      'foo10',
    ]);
    expect(compareVersions('v1', 'v1')).toBe(0);
    expect(compareVersions('x', 'x')).toBe(0);
  });
});
