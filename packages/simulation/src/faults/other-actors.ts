import { hasControllerReference } from '@kctl/apimachinery';
import type { UntypedObject } from '@kctl/apimachinery';
import type { ApiServer, DirectReceiver } from '@kctl/apiserver';
import { pick } from '../random.js';
import { activities } from '../network/activity.js';
import type { Scope } from '../scope.js';
import type { CausedCommit } from '../caused-commit.js';

/** An action of an actor. */
export interface Deed {
  readonly what: string;
  readonly object?: string;
}

/** Actions of others on the cluster besides the operator and the workload. */
export type OtherAct = 'lease-edit' | 'crd-recreated' | 'namespace-deleted' | 'other-edits' | 'other-deletes';

/** Options of {@link OtherActors}. */
export interface OtherActorsOptions {
  readonly server: ApiServer;
  readonly scope: Scope;
  readonly objects: ReadonlyMap<string, CausedCommit>;
  readonly sleep: (ms: number) => Promise<void>;
  /** How long a deletion may take before it counts as stuck, in ms. */
  readonly patienceMs: number;
  /** A deletion is stuck. */
  readonly stuck: (message: string, object: string) => void;
  /** Makes the workload wait until the returned function is called. */
  readonly hold: () => () => void;
}

/** The annotation that an edit by hand leaves; comparisons of states leave it out. */
export const editedAnnotation = 'simulation.kctl.dev/edited';

/** People and programs that the operator does not know of. Their requests never fail. */
export class OtherActors {
  readonly #options: OtherActorsOptions;
  readonly #working = new Set<Promise<unknown>>();
  #edits = 0;

  constructor(options: OtherActorsOptions) {
    this.#options = options;
  }

  /** Does it, unless there is nothing to do it to. */
  act(act: OtherAct, chances: readonly [number, number]): Promise<Deed | undefined> {
    const work = this.#act(act, chances);
    this.#working.add(work);
    return work.finally(() => this.#working.delete(work));
  }

  /** Resolves when what was begun is done. */
  async settle(): Promise<void> {
    await Promise.all(this.#working);
  }

  async #act(act: OtherAct, [which, how]: readonly [number, number]): Promise<Deed | undefined> {
    switch (act) {
      case 'lease-edit':
        return await this.#editLease(which, how);
      case 'other-edits':
        return await this.#edit(which);
      case 'other-deletes':
        return await this.#delete(which);
      case 'crd-recreated':
        return await this.#recreateCrd(which, how);
      case 'namespace-deleted':
        return await this.#recreateNamespace(which, how);
    }
  }

  #choose(chance: number, test: (commit: CausedCommit) => boolean): CausedCommit | undefined {
    const found = [...this.#options.objects.values()].filter(test);
    return found.length === 0 ? undefined : pick(found, chance);
  }

  async #editLease(which: number, how: number): Promise<Deed | undefined> {
    const lease = this.#choose(which, ({ resource }) => resource.endsWith('/leases'));
    if (lease === undefined) return undefined;
    const holderIdentity = how < 0.5 ? '' : 'edited-by-hand';
    await this.#request('PATCH', pathOf(lease), { spec: { holderIdentity } });
    return {
      what: `another client sets the holder of the Lease to ${JSON.stringify(holderIdentity)}`,
      object: lease.label,
    };
  }

  async #edit(which: number): Promise<Deed | undefined> {
    const owned = this.#choose(which, isOwned);
    if (owned === undefined) return undefined;
    const annotations = { [editedAnnotation]: String(++this.#edits) };
    await this.#request('PATCH', pathOf(owned), { metadata: { annotations } });
    return { what: 'another client edits its metadata', object: owned.label };
  }

  async #delete(which: number): Promise<Deed | undefined> {
    const owned = this.#choose(which, isOwned);
    if (owned === undefined) return undefined;
    await this.#request('DELETE', pathOf(owned));
    return { what: 'another client deletes it', object: owned.label };
  }

  async #recreateCrd(which: number, how: number): Promise<Deed | undefined> {
    const crd = this.#choose(which, ({ resource }) => resource === 'apiextensions.k8s.io/customresourcedefinitions');
    if (crd === undefined) return undefined;
    const table = crd.name.replace(/^([^.]+)\.(.+)$/, '$2/$1');
    await this.#recreate(crd, ({ resource }) => resource === table, how);
    return { what: 'another client deletes the CustomResourceDefinition and creates it again', object: crd.label };
  }

  async #recreateNamespace(which: number, how: number): Promise<Deed | undefined> {
    const inUse = new Set(this.#usersObjects(() => true).map(({ namespace }) => namespace));
    const namespace = this.#choose(
      which,
      ({ resource, name }) => resource === '/namespaces' && inUse.has(name) && name !== 'default',
    );
    if (namespace === undefined) return undefined;
    await this.#recreate(namespace, (commit) => commit.namespace === namespace.name, how);
    return { what: 'another client deletes the namespace and creates it again', object: namespace.label };
  }

  #usersObjects(test: (commit: CausedCommit) => boolean): CausedCommit[] {
    return [...this.#options.objects.values()].filter(
      (commit) =>
        commit.origin === 'user' &&
        commit.object.metadata.deletionTimestamp === undefined &&
        !isOwned(commit) &&
        test(commit),
    );
  }

  /** Deletes it, waits until it is gone, then makes it and what users had in it again; the workload waits meanwhile. */
  async #recreate(container: CausedCommit, isInside: (commit: CausedCommit) => boolean, how: number): Promise<void> {
    const { sleep, hold } = this.#options;
    const release = hold();
    try {
      const lost = this.#usersObjects(isInside);
      await this.#request('DELETE', pathOf(container));
      for (let waitedMs = 0; await this.#exists(container); waitedMs += 1000) {
        if (waitedMs > this.#options.patienceMs) {
          this.#reportStuck(container, isInside);
          return;
        }
        await sleep(1000);
      }
      await sleep(5000 * how);
      await this.#insist(container);
      await sleep(1000);
      for (const object of lost) await this.#insist(object);
    } finally {
      release();
    }
  }

  #reportStuck({ label }: CausedCommit, isInside: (commit: CausedCommit) => boolean): void {
    const { objects, patienceMs, stuck } = this.#options;
    const isLeft = (commit: CausedCommit): boolean =>
      isInside(commit) && commit.object.metadata.deletionTimestamp !== undefined;
    const left = [...objects.values()].filter(isLeft);
    const what = left.slice(0, 3).map((commit) => {
      const { finalizers = [] } = commit.object.metadata;
      return `${commit.label} (finalizer ${finalizers.join(', ') || 'none'})`;
    });
    stuck(
      `${label} was deleted by another client ${patienceMs / 1000} s ago and is still there, because of ${what.join(', ') || 'its own finalizers'}. The finalizer must come off whatever the object is deleted with; an operator whose Lease is in a namespace that is deleted can no longer lead: keep the Lease in the namespace of the operator`,
      left[0]?.label ?? label,
    );
  }

  /** Creates it, retrying until the server allows it. */
  async #insist(commit: CausedCommit): Promise<void> {
    for (;;) {
      const status = await this.#request('POST', collectionOf(commit), freshly(commit.object));
      if (status < 300 || status === 409) return;
      await this.#options.sleep(1000);
    }
  }

  async #exists(commit: CausedCommit): Promise<boolean> {
    return (await this.#request('GET', pathOf(commit))) !== 404;
  }

  /** Sends a request past the network; answers its status. */
  #request(method: string, target: string, body?: object): Promise<number> {
    const { server, scope } = this.#options;
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return activities.run({ scope, origin: 'user' }, async () => {
      let code = 0;
      const receiver: DirectReceiver = {
        start: (status) => {
          code = status;
        },
        data: () => undefined,
        end: () => undefined,
        destroy: () => undefined,
      };
      await server.answer(
        {
          method,
          target,
          headers: { 'content-type': contentType, accept: 'application/json' },
          ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
          signal: new AbortController().signal,
        },
        receiver,
      );
      return code;
    });
  }
}

/** Whether an object has a controller that would make it again. */
export function isOwned({ object }: Pick<CausedCommit, 'object'>): boolean {
  return hasControllerReference(object);
}

/** The object as a user would apply it again. */
function freshly(object: UntypedObject): UntypedObject {
  const { status: _status, ...rest } = object;
  const { name, namespace, labels } = object.metadata;
  return {
    ...rest,
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
    },
  };
}

function collectionOf({ object, resource, namespace }: CausedCommit): string {
  const [group = '', plural = ''] = resource.split('/');
  const { apiVersion = 'v1' } = object;
  const root = group === '' ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
  return namespace === '' ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
}

function pathOf(commit: CausedCommit): string {
  return `${collectionOf(commit)}/${commit.name}`;
}
