import { createController } from '@kctl/controller';
import { createCluster, createManager, type Runnable } from '@kctl/manager';
import { describe, expect, it } from 'vitest';
import { createInspection } from '../src/index.js';
import { answeringClient } from './harness.js';

const throwing = (): never => {
  throw new Error('foreign');
};

describe('a runnable that does not return its rights', () => {
  it.each<[string, () => unknown, RegExp]>([
    ['throws', throwing, /^broken failed: foreign$/],
    ['returns a number', () => 5, /^broken failed: accessNeeds\(\) returned a value of type number: expected a list/],
    ['returns null in a list', () => [null], /^broken failed: accessNeeds\(\) returned a list whose item 0 is not/],
  ])('%s: the manager names it, and the inspection shows everything else', (_what, accessNeeds, message) => {
    const client = answeringClient();
    const cache = { run: async () => await Promise.resolve() };
    const manager = createManager({ cluster: createCluster({ client, apiReader: client, cache: cache as never }) });
    const broken = { name: 'broken', run: async () => await Promise.resolve(), accessNeeds } as Runnable;
    manager.add(broken);
    manager.add(createController({ name: 'things', reconciler: async () => await Promise.resolve(undefined) }));
    const inspection = createInspection({ recordErrorMessages: true });
    inspection.attach(manager);
    inspection.observeRequest({ method: 'GET', path: '/apis/example.com/v1/namespaces/a/things/b', status: 403 });

    expect(() => manager.accessNeeds()).toThrow(message);
    const { problems, controllers } = inspection.overview();
    expect(controllers.map(({ name }) => name)).toEqual(['things']);
    expect(problems.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^the declared rights of broken cannot be read: /),
    ]);
    expect(inspection.graph().map(({ name }) => name)).toEqual(['things']);
    expect(inspection.rights().map(({ state }) => state)).toEqual(inspection.rights().map(() => 'used'));
  });

  it('of a controller counts as one that reconciles Secrets: names stay hidden', () => {
    const own = createController({ name: 'things', reconciler: async () => await Promise.resolve(undefined) });
    const inspection = createInspection();
    inspection.attach({
      controllers: () => [Object.assign(own, { accessNeeds: throwing })],
      clusters: () => [],
    } as never);
    inspection.observer.queued('things', 'shop/password-of-x', { reason: 'x' });
    expect(JSON.stringify(inspection.keys())).not.toContain('password-of-x');
    expect(inspection.graph()).toMatchObject([{ name: 'things', writes: [] }]);
  });
});
