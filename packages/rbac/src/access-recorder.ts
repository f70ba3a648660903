import { accessOf, type AccessUse, type SentRequest } from './access-use.js';

/** A right that was used, and how often. */
export interface CountedUse extends AccessUse {
  readonly count: number;
  /** How many of these requests were answered with 403. */
  readonly refused: number;
}

/** Records which rights the requests of a connection use. */
export interface AccessRecorder {
  /** To be given to the connection: `{ ...connection, observe: recorder.observe }`. */
  readonly observe: (request: SentRequest) => void;
  /** Requests since the start, or since {@link AccessRecorder.reset}: also those that are not of resources. */
  readonly requests: number;
  /** The rights that were used, sorted by resource, verb, namespace and name. */
  readonly uses: () => readonly CountedUse[];
  /**
   * The last requests, oldest first, for a message. At most 100.
   *
   * @param after a value of `requests`; the requests up to then are left out. @default 0
   */
  readonly last: (after?: number) => readonly SentRequest[];
  /** Forgets everything. */
  readonly reset: () => void;
}

const lastLimit = 100;

/**
 * Makes a recorder. It retains one entry for each right, namespace and name that was used, and the last 100 requests.
 *
 * @example
 * ```ts
 * import { createManager } from '@kctl/runtime';
 * import { compareAccess, createAccessRecorder, formatAccess } from '@kctl/rbac';
 *
 * const recorder = createAccessRecorder();
 * const manager = await createManager({ connection: { server: 'https://10.0.0.1', observe: recorder.observe } });
 * // … the test …
 * const difference = compareAccess(manager.accessNeeds(), recorder.uses());
 * if (!difference.isEqual) throw new Error(formatAccess(difference));
 * ```
 */
export function createAccessRecorder(): AccessRecorder {
  const uses = new Map<string, CountedUse>();
  let last: SentRequest[] = [];
  let requests = 0;
  const observe = (request: SentRequest): void => {
    requests++;
    last.push({ method: request.method, path: request.path, status: request.status });
    if (last.length > lastLimit) last = last.slice(-lastLimit);
    for (const use of accessOf(request)) {
      const id = JSON.stringify([use.group, use.resource, use.verb, use.namespace ?? '', use.name ?? '']);
      const { count, refused } = uses.get(id) ?? { count: 0, refused: 0 };
      uses.set(id, { ...use, count: count + 1, refused: refused + (request.status === 403 ? 1 : 0) });
    }
  };
  return {
    observe,
    get requests() {
      return requests;
    },
    uses: () => [...uses].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, use]) => use),
    last: (after = 0) => last.slice(Math.max(0, last.length - Math.max(0, requests - after))),
    reset: () => {
      uses.clear();
      last = [];
      requests = 0;
    },
  };
}
