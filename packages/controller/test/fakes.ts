import { headerOf } from '@kctl/apimachinery/internal/wire';
import type { DeepReadonly, Kind, KubeObject, PersistedObject, UntypedObject } from '@kctl/apimachinery';
import { defineKind } from '@kctl/apimachinery';
import type { EventInformer, InformerEventHandler, InformerProvider, InformerRegistration } from '../src/index.js';

export const Pod: Kind<UntypedObject, 'Namespaced'> = defineKind({
  group: '',
  version: 'v1',
  kind: 'Pod',
  scope: 'Namespaced',
});
export const Node: Kind<UntypedObject, 'Cluster'> = defineKind({
  group: '',
  version: 'v1',
  kind: 'Node',
  scope: 'Cluster',
});
export const ReplicaSet: Kind<UntypedObject, 'Namespaced'> = defineKind({
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  scope: 'Namespaced',
});

type Handler = InformerEventHandler<DeepReadonly<KubeObject>>;

/** An informer whose events a test makes by hand. */
export class FakeInformer implements EventInformer<DeepReadonly<KubeObject>> {
  readonly handlers: Set<Handler> = new Set<Handler>();
  #synced = Promise.withResolvers<undefined>();
  isSynced = false;
  lastError: unknown;

  addEventHandler(handler: Handler): InformerRegistration {
    this.handlers.add(handler);
    const isSynced = (): boolean => this.isSynced;
    return {
      get hasSynced() {
        return isSynced();
      },
      waitForSync: async () => {
        await this.#synced.promise;
      },
      remove: () => void this.handlers.delete(handler),
    };
  }

  sync(): this {
    this.isSynced = true;
    this.#synced.resolve(undefined);
    return this;
  }

  add(object: KubeObject, isInInitialList = false): void {
    this.#send({ type: 'add', object, isInInitialList });
  }

  update(oldObject: KubeObject, object: KubeObject): void {
    this.#send({ type: 'update', oldObject, object });
  }

  delete(object: KubeObject, finalStateUnknown = false): void {
    this.#send({ type: 'delete', object, oldObject: object, finalStateUnknown });
  }

  /** The object's namespace is no longer watched. */
  leave(object: KubeObject): void {
    this.#send({ type: 'delete', object, oldObject: object, leftScope: true });
  }

  #send(event: {
    type: 'add' | 'update' | 'delete';
    object: KubeObject;
    oldObject?: KubeObject;
    isInInitialList?: boolean;
    finalStateUnknown?: boolean;
    leftScope?: boolean;
  }): void {
    const oldHeader = event.oldObject === undefined ? undefined : headerOf(event.oldObject);
    for (const handler of this.handlers)
      handler.onEvent({
        isInInitialList: false,
        finalStateUnknown: false,
        ...event,
        header: headerOf(event.object),
        oldHeader,
      });
  }
}

/** One that keeps its objects, and hands them to each handler that is added, as a shared informer does. */
export class StoringInformer extends FakeInformer {
  readonly objects: Map<string, KubeObject> = new Map<string, KubeObject>();

  override addEventHandler(handler: Handler): InformerRegistration {
    const registration = super.addEventHandler(handler);
    for (const object of this.objects.values()) this.#initial(handler, object);
    return registration;
  }

  override add(object: KubeObject, isInInitialList = false): void {
    this.objects.set(object.metadata.name ?? '', object);
    super.add(object, isInInitialList);
  }

  override update(oldObject: KubeObject, object: KubeObject): void {
    this.objects.set(object.metadata.name ?? '', object);
    super.update(oldObject, object);
  }

  override delete(object: KubeObject, finalStateUnknown = false): void {
    this.objects.delete(object.metadata.name ?? '');
    super.delete(object, finalStateUnknown);
  }

  #initial(handler: Handler, object: KubeObject): void {
    handler.onEvent({
      type: 'add',
      object,
      header: headerOf(object),
      isInInitialList: true,
      finalStateUnknown: false,
    });
  }
}

/** Hands out fake informers by kind. */
export class FakeInformers implements InformerProvider {
  readonly byKind: Map<string, FakeInformer> = new Map<string, FakeInformer>();
  readonly #make: () => FakeInformer;
  failures: Error[] = [];
  calls = 0;

  constructor(make: () => FakeInformer = () => new FakeInformer()) {
    this.#make = make;
  }

  of(kind: Kind): FakeInformer {
    const informer = this.byKind.get(kind.kind) ?? this.#make();
    this.byKind.set(kind.kind, informer);
    return informer;
  }

  async informer(kind: Kind): Promise<FakeInformer> {
    this.calls++;
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    return this.of(kind);
  }
}

export function pod(
  name: string,
  rest: Partial<PersistedObject<Kind<KubeObject, 'Namespaced'>>['metadata']> = {},
): PersistedObject<Kind<KubeObject, 'Namespaced'>> {
  const identity = { name, namespace: 'default', uid: `uid of ${name}`, resourceVersion: '1' };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...identity, ...rest } };
}
