// The object of an event is typed where a predicate is written in place.
import type { NamespacedKey } from '@kctl/apimachinery';
import { defineKind, metadataOnly } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { enqueueRequestForObject, predicateFuncs } from '@kctl/controller';
import type { Manager } from '@kctl/manager';
import { describe, expectTypeOf, it } from 'vitest';
import { controllerManagedBy } from '../src/index.js';

interface App extends KubeObject {
  readonly spec: { readonly replicas: number };
}
const App = defineKind<App>()({ group: 'apps.example.com', version: 'v1', kind: 'App', scope: 'Namespaced' });
const Config = defineKind<KubeObject & { data: Record<string, string> }>()({
  group: '',
  version: 'v1',
  kind: 'Config',
  scope: 'Cluster',
});
declare const manager: Manager;

/** Type-checked, never run. */
const compiled = (_work: () => unknown): void => undefined;

describe('a predicate in place', () => {
  it('has the object of for and owns', () => {
    compiled(() => {
      controllerManagedBy(manager)
        .for(App, {
          predicates: [
            ({ object }) => {
              expectTypeOf(object).not.toBeAny();
              expectTypeOf(object.spec.replicas).toEqualTypeOf<number>();
              expectTypeOf(object.metadata).toExtend<NamespacedKey>();
              return object.spec.replicas > 0;
            },
            (event) => event.type !== 'update' || event.oldObject.spec.replicas !== event.object.spec.replicas,
          ],
        })
        .owns(Config, {
          matchEveryOwner: true,
          predicates: [
            ({ object }) => {
              expectTypeOf(object).not.toBeAny();
              expectTypeOf(object.data).toEqualTypeOf<Readonly<Record<string, string>>>();
              return true;
            },
          ],
        });
    });
  });

  it('has metadata alone where those are watched alone', () => {
    compiled(() => {
      controllerManagedBy(manager)
        .for(App, {
          onlyMetadata: true,
          predicates: [
            ({ object }) => {
              expectTypeOf(object).not.toBeAny();
              expectTypeOf(object).not.toHaveProperty('spec');
              return object.metadata.name !== '';
            },
          ],
        })
        .owns(Config, {
          onlyMetadata: true,
          predicates: [({ object }) => void expectTypeOf(object).not.toHaveProperty('data') === undefined],
        });
    });
  });

  it('has the object of watches and watchesMetadata', () => {
    compiled(() => {
      controllerManagedBy(manager)
        .watches(App, enqueueRequestForObject(), {
          predicates: [
            ({ object }) => {
              expectTypeOf(object.spec.replicas).toEqualTypeOf<number>();
              return true;
            },
          ],
        })
        .watchesMetadata(App, enqueueRequestForObject(), {
          predicates: [
            ({ object }) => {
              expectTypeOf(object).not.toBeAny();
              expectTypeOf(object).not.toHaveProperty('spec');
              return true;
            },
          ],
        });
    });
  });

  it('has it with the parts of a predicate, and without options', () => {
    compiled(() => {
      controllerManagedBy(manager)
        .for(App, { predicates: [predicateFuncs({ update: ({ object }) => object.spec.replicas > 0 })] })
        .owns(Config);
      controllerManagedBy(manager).for(metadataOnly(App), {
        predicates: [
          ({ object }) => {
            expectTypeOf(object).not.toBeAny();
            return object.metadata.name !== '';
          },
        ],
      });
    });
  });

  it('may be made before, and chosen at run time', () => {
    compiled(() => {
      const onlyMetadata: boolean = Math.random() > 2;
      // @ts-expect-error -- what the predicates see depends on it
      controllerManagedBy(manager).for(App, { onlyMetadata, predicates: [({ object }) => object.spec.replicas > 0] });
      controllerManagedBy(manager).for(App, onlyMetadata ? { onlyMetadata } : { startPolicy: 'optional' });
    });
  });
});
