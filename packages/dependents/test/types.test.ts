import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import type { ReadObject } from '@kctl/client';
import { dependents } from '@kctl/dependents';
import { expectTypeOf, it } from 'vitest';
import { WebApp } from './web-app.js';

const start = dependents(WebApp, { fieldOwner: 'x' })
  .ref('tls', Secret, { key: () => undefined })
  .ref('maybe', Secret, { key: () => undefined, optional: true })
  .child('config', ConfigMap, { desired: () => ({ data: { a: '1' } }) })
  .child('db', ConfigMap, { when: ({ spec }) => spec.database === true, desired: () => ({}) })
  .set('routes', ConfigMap, {
    each: ({ spec }) => new Map((spec.hosts ?? []).map((host) => [host.id, host.host])),
    desired: (_app, host) => ({ data: { host } }),
  });

it('hands exactly the declared nodes to desired, undefined where they may be missing', () => {
  start.child('web', Deployment, {
    needs: ['tls', 'maybe', 'db'],
    needsReady: ['config', 'routes'],
    desired: (app, needed) => {
      expectTypeOf(app).toEqualTypeOf<ReadObject<typeof WebApp>>();
      expectTypeOf(needed.tls).toEqualTypeOf<ReadObject<typeof Secret>>();
      expectTypeOf(needed.maybe).toEqualTypeOf<ReadObject<typeof Secret> | undefined>();
      expectTypeOf(needed.config).toEqualTypeOf<ReadObject<typeof ConfigMap>>();
      expectTypeOf(needed.db).toEqualTypeOf<ReadObject<typeof ConfigMap> | undefined>();
      expectTypeOf(needed.routes).toEqualTypeOf<ReadonlyMap<string, ReadObject<typeof ConfigMap>>>();
      return {};
    },
  });
});

it('does not compile with a wrong name, a node below, or a field that the kind lacks', () => {
  // @ts-expect-error a name that no node has
  start.child('web', ConfigMap, { needs: ['confg'], desired: () => ({}) });
  // @ts-expect-error the node itself, which is not above it
  start.child('web', ConfigMap, { needs: ['web'], desired: () => ({}) });
  // @ts-expect-error a node that is not declared as needed
  start.child('web', ConfigMap, { needs: ['config'], desired: (_app, { db }) => ({ data: { db: db.metadata.name } }) });
  // @ts-expect-error a field that a ConfigMap does not have
  start.child('web', ConfigMap, { desired: () => ({ spec: {} }) });
});
