import { StatusError } from '@kctl/apimachinery';
import { intercept, type Client } from '@kctl/client';
import type { Directory } from '@kctl/example-application-operator/directory.js';

/**
 * What happens at a write. `dieBefore`, `dieAfter`: the process ends, nothing else gets out. `failAfter`: the write is
 * done, but answered with a failure, and the process lives on. `refuse`: the write meets a conflict.
 */
export type Mishap = 'dieBefore' | 'dieAfter' | 'failAfter' | 'refuse';

/** All of them. */
export const mishaps: readonly Mishap[] = ['dieBefore', 'dieAfter', 'failAfter', 'refuse'];

/** Ends a simulated process: thrown by every call from the crash on. */
export class SimulatedCrash extends Error {
  override readonly name = 'SimulatedCrash';
}

/** Counts writes and strikes at one of them. */
export interface Tripwire {
  readonly writes: number;
  readonly isDead: boolean;
  /** The same client, to die of. */
  client(inner: Client): Client;
  directory(inner: Directory): Directory;
}

/** @param at number of the write that is struck, counted from 1; Infinity strikes none */
export function createTripwire(at: number, mishap: Mishap): Tripwire {
  let writes = 0;
  let isDead = false;
  const requireLife = (): void => {
    if (isDead) throw new SimulatedCrash('the process has ended');
  };
  const read = async <T>(work: () => Promise<T>): Promise<T> => {
    requireLife();
    return work();
  };
  const write = async <T>(work: () => Promise<T>): Promise<T> => {
    requireLife();
    if (++writes !== at) return work();
    switch (mishap) {
      case 'dieBefore':
        isDead = true;
        break;
      case 'dieAfter':
        await work();
        isDead = true;
        break;
      case 'failAfter':
        await work();
        throw failure(500, 'InternalError');
      case 'refuse':
        throw failure(409, 'Conflict');
    }
    throw new SimulatedCrash(`crash at write ${at}`);
  };
  return {
    get writes() {
      return writes;
    },
    get isDead() {
      return isDead;
    },
    client: (inner) =>
      intercept(inner, (next) => ({
        get: (kind, key, options) => read(() => next.get(kind, key, options)),
        list: (kind, options) => read(() => next.list(kind, options)),
        create: (kind, object, options) => write(() => next.create(kind, object, options)),
        update: (kind, object, options) => write(() => next.update(kind, object, options)),
        patch: (kind, key, patch, options) => write(() => next.patch(kind, key, patch, options)),
        delete: (kind, key, options) => write(() => next.delete(kind, key, options)),
        deleteAllOf: (kind, options) => write(() => next.deleteAllOf(kind, options)),
        subResource: (kind, name) => {
          if (name !== 'status') throw new Error(`a tripwire for the subresource ${name} is not laid`);
          return {
            update: (_key, body, options) => write(() => next.status(kind).update(body as never, options)) as never,
            patch: (key, patch, options) => write(() => next.status(kind).patch(key, patch, options)) as never,
          };
        },
      })),
    directory: (inner) => ({
      register: (name, address) => write(() => inner.register(name, address)),
      deregister: (name) => write(() => inner.deregister(name)),
    }),
  };
}

function failure(code: number, reason: string): StatusError {
  return new StatusError({ status: 'Failure', code, reason, message: `injected: ${reason}` });
}
