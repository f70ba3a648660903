import type { UntypedObject } from '@kctl/apimachinery';
import { systemClock, type Clock, type Random } from '@kctl/wait';
import { createAdmissionChain } from '../admission/chain.js';
import { createReviews } from '../admission/reviews.js';
import { negotiate } from '../codecs/negotiate.js';
import { parseJsonFast } from '../json/strict-json.js';
import { seededRandom } from '../process/seeded-random.js';
import { crdTable, type RequestAudit, type ResourceCall, type WriteBackend } from '../handlers/call.js';
import { toStatusError } from '../handlers/reply.js';
import { writePlanOf } from '../handlers/write-plan.js';
import type { Offload } from '../offload/offload.js';
import type { ApiRequest } from '../protocol/api-request.js';
import { splitTarget, type ResourcePath } from '../protocol/request-info.js';
import { isStoredObject } from '../storage/log-files.js';
import { longContentOf } from '../storage/long-object.js';
import { createStore } from '../storage/store.js';
import type { StoreEvent } from '../storage/table.js';
import { Inquiry } from './inquiry.js';
import type { KnownDefinitions } from './known-definitions.js';
import { UnknownHereError, type KnownStore } from './known-store.js';
import type { LongWrite, LongWritten, TextRecord } from '../offload/long-write.js';

function readRecord({ text }: TextRecord): UntypedObject {
  const object = parseJsonFast(text);
  if (!isStoredObject(object)) throw new TypeError('a record holds no object');
  return object;
}

function placeOf({ table, key }: TextRecord): string {
  return `${table} ${key}`;
}

/** Whether a definition is the object of the write. */
function isWritten({ key }: TextRecord, { group, resource, name }: ResourcePath): boolean {
  return `${group}/${resource}` === crdTable && key === name;
}

function clockAt(nowMs: number): Clock {
  return {
    now: () => nowMs,
    monotonicNow: () => systemClock.monotonicNow(),
    setTimer: (...timer) => systemClock.setTimer(...timer),
  };
}

function requestOf({ method, target, contentType, userAgent, body }: LongWrite, signal: AbortSignal): ApiRequest {
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
    signal,
  };
}

/**
 * Prepares writes in another thread, with the handlers of the server, over a store that holds all that the write may
 * read. The thread of the server then makes the same commits.
 */
export class LongWriter {
  readonly #offload: Offload;
  readonly #definitions: KnownDefinitions;

  constructor(offload: Offload, definitions: KnownDefinitions) {
    this.#offload = offload;
    this.#definitions = definitions;
  }

  async perform(job: LongWrite): Promise<LongWritten> {
    const { path, user } = job;
    const inner = createStore({ clock: clockAt(job.nowMs) });
    const records = new Map([...job.records, ...job.review.records].map((each) => [placeOf(each), each]));
    const served = new Set<string>();
    for (const record of records.values()) {
      const { revision, table, key } = record;
      const object = readRecord(record);
      inner.replay({ revision, table, key, object });
      // A definition that is written itself is no one's yet.
      if (table === crdTable && !isWritten(record, path))
        this.#definitions.serve(served.add(key), { name: key, text: record.text }, () => object);
    }
    const definition = this.#definitions.registry.find(path.group, path.version, path.resource);
    if (definition === undefined) return { type: 'elsewhere' };
    const abandoned = new AbortController();
    const request = requestOf(job, abandoned.signal);
    const random = seededRandom(job.seed);
    const inquiry = new Inquiry(job.review, random);
    this.#definitions.inquiry = inquiry;
    const plan = writePlanOf({ definition, path, request });
    if (plan === undefined) return { type: 'elsewhere' };
    const commits: StoreEvent[] = [];
    inner.subscribe((event) => void commits.push(event));
    const warnings: string[] = [];
    const audit: RequestAudit = {};
    const noted = (): Pick<ResourceCall, 'warnings'> & RequestAudit => ({ warnings, ...audit });
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
      audit,
      remainingMs: job.remainingMs,
    };
    try {
      const store = inquiry.storeOf(inner, job.tables);
      const backend = this.#backend(job, store, { inquiry, random });
      const written = await Promise.race([plan.write(backend, call), inquiry.stalled]);
      const { asked } = inquiry;
      if (asked !== undefined) {
        abandoned.abort(new Error('the write begins again'));
        return { type: 'asks', asked };
      }
      if (written === undefined) return { type: 'elsewhere' };
      const { status, rendering } = written;
      const [commit, ...more] = commits;
      if (more.length > 0) return { type: 'elsewhere' };
      const isDryRun = call.query.getAll('dryRun').includes('All');
      if (commit === undefined)
        return { type: 'prepared', status, ...noted(), ...(isDryRun && { shown: longContentOf(rendering.object) }) };
      const { table, key, current } = commit;
      if (commit.type === 'DELETED')
        return {
          type: 'prepared',
          status,
          ...noted(),
          removed: { table, key },
          shown: longContentOf(rendering.object),
        };
      const isSame = rendering.object === current.object;
      return {
        type: 'prepared',
        status,
        ...noted(),
        stored: { table, key, content: longContentOf(current.object) },
        ...(!isSame && { shown: longContentOf(rendering.object) }),
      };
    } catch (error) {
      const { asked } = inquiry;
      if (asked !== undefined) return { type: 'asks', asked };
      if (error instanceof UnknownHereError) return { type: 'elsewhere' };
      return { type: 'failed', status: toStatusError(error).status, ...noted() };
    }
  }

  #backend(
    { nowMs, uid, podServiceAccounts, review }: LongWrite,
    store: KnownStore,
    { inquiry, random }: { readonly inquiry: Inquiry; readonly random: Random },
  ): WriteBackend {
    const { registry } = this.#definitions;
    const offload = this.#offload;
    return {
      store,
      registry,
      clock: clockAt(nowMs),
      random,
      newUid: () => uid,
      admission: review.isReviewed ? createReviews({ store, registry, offload }, inquiry) : createAdmissionChain([]),
      access: { mode: 'RBAC', authorizer: inquiry.authorizer, rebuild: () => undefined },
      offload,
      identities: { podServiceAccounts },
    };
  }
}
