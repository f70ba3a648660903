import type { UntypedObject } from '@kctl/apimachinery';
import { systemClock, type Clock } from '@kctl/wait';
import { createAdmissionChain } from '../admission/chain.js';
import type { AccessControl } from '../authorization/access-control.js';
import { negotiate } from '../codecs/negotiate.js';
import { parseJsonFast } from '../codecs/strict-json.js';
import { seededRandom } from '../faults/seeded-random.js';
import { crdTable, type ResourceCall, type WriteBackend } from '../handlers/call.js';
import { toStatusError } from '../handlers/reply.js';
import { writePlanOf } from '../handlers/write-plan.js';
import type { Offload } from '../offload/offload.js';
import { builtInDefinitions } from '../registry/builtins.js';
import { createRegistry } from '../registry/create-registry.js';
import type { Registry } from '../registry/registry.js';
import type { ApiRequest } from '../server/api-request.js';
import { splitTarget } from '../server/request-info.js';
import { isStoredObject } from '../storage/log-files.js';
import { longContentOf } from '../storage/long-object.js';
import { createStore } from '../storage/store.js';
import type { StoreEvent } from '../storage/table.js';
import { KnownStore, UnknownHereError } from './known-store.js';
import type { LongWrite, LongWritten, TextRecord } from './long-write.js';

/** Custom resources whose definitions are kept compiled. */
const maxKept = 16;

function readRecord({ text }: TextRecord): UntypedObject {
  const object = parseJsonFast(text);
  if (!isStoredObject(object)) throw new TypeError('a record holds no object');
  return object;
}

function clockAt(nowMs: number): Clock {
  return {
    now: () => nowMs,
    monotonicNow: () => systemClock.monotonicNow(),
    setTimer: (...timer) => systemClock.setTimer(...timer),
  };
}

function requestOf({ method, target, contentType, userAgent, body }: LongWrite): ApiRequest {
  const headers: Readonly<Record<string, string | undefined>> = {
    'content-type': contentType,
    'user-agent': userAgent,
  };
  return {
    method,
    target,
    header: (name) => headers[name],
    headers: () => [],
    impersonation: () => [],
    readBody: () => Promise.resolve(body),
    peer: undefined,
    signal: new AbortController().signal,
  };
}

/** Answers whether the object may be created, and nothing else. Roles and bindings, which have more to ask, stay with the server. */
function accessOf(creation: LongWrite['creation']): AccessControl {
  return {
    mode: 'RBAC',
    authorizer: {
      authorize: ({ verb }) => {
        if (verb !== 'create' || creation === undefined) throw new UnknownHereError(`the right to ${verb}`);
        return creation;
      },
      rulesFor: () => {
        throw new UnknownHereError('what a user may do');
      },
    },
    rebuild: () => undefined,
  };
}

/**
 * Prepares writes in another thread: with the handlers of the server, over a store that holds what the write may look
 * at. What they commit there the thread of the server commits then.
 */
export class LongWriter {
  readonly #offload: Offload;
  readonly #registry: Registry = createRegistry({ definitions: builtInDefinitions() });
  /** Definitions that the registry serves, by name: the least recently used first. */
  readonly #crds = new Map<string, string>();

  constructor(offload: Offload) {
    this.#offload = offload;
  }

  async perform(job: LongWrite): Promise<LongWritten> {
    const { path, user } = job;
    const inner = createStore({ clock: clockAt(job.nowMs) });
    for (const record of job.records) {
      const { revision, table, key } = record;
      const object = readRecord(record);
      inner.replay({ revision, table, key, object });
      if (table === crdTable) this.#serve(key, record.text, object);
    }
    const definition = this.#registry.find(path.group, path.version, path.resource);
    if (definition === undefined) return { type: 'elsewhere' };
    const request = requestOf(job);
    const plan = writePlanOf({ definition, path, request });
    if (plan === undefined) return { type: 'elsewhere' };
    const commits: StoreEvent[] = [];
    inner.subscribe((event) => void commits.push(event));
    const warnings: string[] = [];
    const call: ResourceCall = {
      path,
      definition,
      query: splitTarget(job.target).query,
      negotiated: negotiate(undefined, { isCustom: definition.isCustom, isStreamed: false }),
      request,
      user,
      revisionsBehind: 0,
      offload: this.#offload,
      warnings,
      audit: {},
    };
    try {
      const { status, rendering } = await plan.write(this.#backend(job, new KnownStore(inner, job.tables)), call);
      const [commit, ...more] = commits;
      if (more.length > 0 || commit?.type === 'DELETED') return { type: 'elsewhere' };
      const isDryRun = call.query.getAll('dryRun').includes('All');
      if (commit === undefined)
        return { type: 'prepared', status, warnings, ...(isDryRun && { shown: longContentOf(rendering.object) }) };
      const { table, key, current } = commit;
      const isSame = rendering.object === current.object;
      return {
        type: 'prepared',
        status,
        warnings,
        stored: { table, key, content: longContentOf(current.object) },
        ...(!isSame && { shown: longContentOf(rendering.object) }),
      };
    } catch (error) {
      if (error instanceof UnknownHereError) return { type: 'elsewhere' };
      return { type: 'failed', status: toStatusError(error).status, warnings };
    }
  }

  #serve(name: string, text: string, crd: UntypedObject): void {
    if (this.#crds.get(name) !== text) this.#registry.registerCrd(crd);
    this.#crds.delete(name);
    this.#crds.set(name, text);
    const [oldest] = this.#crds.keys();
    if (this.#crds.size <= maxKept || oldest === undefined) return;
    this.#crds.delete(oldest);
    this.#registry.unregisterCrd(oldest);
  }

  #backend({ nowMs, seed, uid, podServiceAccounts, creation }: LongWrite, store: KnownStore): WriteBackend {
    return {
      store,
      registry: this.#registry,
      clock: clockAt(nowMs),
      random: seededRandom(seed),
      newUid: () => uid,
      admission: createAdmissionChain([]),
      access: accessOf(creation),
      offload: this.#offload,
      identities: { podServiceAccounts },
    };
  }
}
