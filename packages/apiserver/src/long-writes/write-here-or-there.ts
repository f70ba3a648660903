import { StatusError } from '@kctl/apimachinery';
import { crdTable, storageKeyOf, type Backend, type ResourceCall } from '../handlers/call.js';
import { isLongBody } from '../codecs/long-body.js';
import { retryOnLostRace } from '../handlers/commit.js';
import { shownIn } from '../handlers/conversions.js';
import { requirePresent } from '../handlers/update.js';
import type { WritePlan } from '../handlers/write-plan.js';
import type { Written } from '../handlers/written.js';
import { TooDeepError } from '../json/strict-json.js';
import { grantingTables } from '../authorization/rbac/escalation.js';
import type { ResourceDefinition } from '../resource/resource.js';
import type { ApiRequest } from '../protocol/api-request.js';
import { LostRaceError } from '../storage/errors.js';
import { LongBody, longBodyOf, longObject } from '../storage/long-object.js';
import { renderObject, type ObjectVersion } from '../storage/version.js';
import type { LongWrite, LongWritten, TextRecord } from '../offload/long-write.js';
import { LongAnswerError, NotedCalls } from '../admission/webhook/noted-calls.js';
import { Reviews } from './reviews.js';

type Prepared = Extract<LongWritten, { readonly type: 'prepared' }>;

/** Limit of questions per write, for each call of a webhook, and each question of an expression. */
const maxQuestions = 1_000;

/** Tables that the authorizer reads at each write stay in this thread. */
const keptTables: ReadonlySet<string> = new Set(grantingTables);

/** The request with a body that has been read. */
function withBody(request: ApiRequest, body: Uint8Array): ApiRequest {
  return {
    method: request.method,
    target: request.target,
    header: (name) => request.header(name),
    headers: () => request.headers(),
    impersonation: () => request.impersonation(),
    readBody: () => Promise.resolve(body),
    peer: request.peer,
    signal: request.signal,
    ...(request.canUpgrade !== undefined && { canUpgrade: request.canUpgrade }),
  };
}

interface Place {
  readonly table: string;
  readonly key: string;
}

function placeIn({ storageKey, namespaced }: ResourceDefinition, namespace: string, name: string): Place {
  return { table: storageKey, key: storageKeyOf(namespaced ? namespace : '', name) };
}

function presentOf({ store }: Backend, { definition, path }: ResourceCall): ObjectVersion | undefined {
  if (path.name === '') return undefined;
  const { table, key } = placeIn(definition, path.namespace, path.name);
  return store.table(table).get(key);
}

/** Definitions with more rules than this are checked in another thread, since 1,000 take 70 ms, and fit in 50 KB. */
const maxRules = 200;

/**
 * Whether a body names more rules than this thread may check. It counts those of CEL, and a description here and there.
 */
function hasManyRules(text: Buffer | string): boolean {
  let found = 0;
  for (let at = text.indexOf('rule'); at !== -1 && found <= maxRules; at = text.indexOf('rule', at + 4)) found++;
  return found > maxRules;
}

/** Whether a write is long, as it is sent or as its object is stored, or takes long by its definition. */
function isLongWrite(backend: Backend, call: ResourceCall, body: Uint8Array): boolean {
  const { length } = body;
  if (call.definition.isHeavy === true || isLongBody(body)) return true;
  const present = presentOf(backend, call);
  const isDefinition = call.definition.storageKey === crdTable;
  if (isDefinition && hasManyRules(Buffer.from(body.buffer, body.byteOffset, length))) return true;
  if (present === undefined) return false;
  if (isDefinition && hasManyRules(present.text)) return true;
  return longBodyOf(present.object) !== undefined || isLongBody({ length: length + present.textLength });
}

/** Whether a write failed because the stack of this thread is too short for its walks. */
function isTooDeep(error: unknown): boolean {
  return error instanceof TooDeepError || (error instanceof RangeError && error.message.includes('call stack'));
}

/** Whether another thread could do a write. */
function isPortable({ definition }: ResourceCall): boolean {
  return !keptTables.has(definition.storageKey);
}

/**
 * Writes an object. If it is long, as it is sent or as it is stored, another thread prepares all of the write from the
 * bytes of the request to the JSON of the new state. This thread commits it, and answers with its JSON.
 *
 * @throws StatusError
 */
export async function writeHereOrThere(backend: Backend, call: ResourceCall, plan: WritePlan): Promise<Written> {
  const body = await call.request.readBody();
  const here = { ...call, request: withBody(call.request, body) };
  if (isLongWrite(backend, call, body) && isPortable(call)) return writeThere(backend, here, { plan, body });
  if (!isPortable(call)) return plan.write(backend, here);
  const warned = call.warnings.length;
  const annotations = call.audit.annotations && { ...call.audit.annotations };
  const noted = new NotedCalls(backend.webhooks);
  try {
    return await plan.write(backend, { ...here, caller: noted });
  } catch (error) {
    const isLong = error instanceof LongAnswerError;
    if (!isLong && !isTooDeep(error)) throw error;
    call.warnings.length = warned;
    if (annotations === undefined) delete call.audit.annotations;
    else call.audit.annotations = annotations;
    // If objects are converted on the way, calls are counted differently there, so all are made anew.
    const isCounted = isLong && call.definition.conversion === undefined;
    return writeThere(backend, here, { plan, body, ...(isCounted && { noted }) });
  }
}

interface Wanted {
  readonly plan: WritePlan;
  readonly body: Uint8Array;
  readonly noted?: NotedCalls;
}

async function writeThere(backend: Backend, call: ResourceCall, { plan, body, noted }: Wanted): Promise<Written> {
  /** Objects that turned out to be in the way of a name. */
  const holders: Place[] = [];
  const job = jobOf(backend, call, body);
  using reviews = new Reviews(backend, call, noted ?? { outcomes: [], uids: [] });
  let before = holders.length;
  let isFirst = true;
  return await retryOnLostRace(async () => {
    const records = recordsFor(backend, call, holders);
    // A create whose name is taken was reviewed, so it only needs another name.
    if (!isFirst && (holders.length === before || job.method !== 'POST')) reviews.reset();
    isFirst = false;
    before = holders.length;
    const written = await prepare(backend, { ...job, records }, reviews);
    switch (written.type) {
      case 'elsewhere':
        return plan.write(backend, call);
      case 'failed':
        note(call, written);
        throw new StatusError(written.status);
      case 'prepared': {
        requireUnchanged(backend, records, reviews);
        const done = await commit(backend, call, { written, records, holders });
        note(call, written);
        return done;
      }
    }
  }, reviews.signal);
}

/** Runs a job until all questions of its reviews are answered. @throws the reason of the deadline */
async function prepare(
  { offload }: Backend,
  job: Omit<LongWrite, 'remainingMs' | 'review'>,
  reviews: Reviews,
): Promise<Exclude<LongWritten, { readonly type: 'asks' }>> {
  for (let left = maxQuestions; left > 0; left--) {
    const { remainingMs, signal } = reviews;
    const written = await offload.run({ ...job, remainingMs, review: reviews.facts() }, signal);
    if (written.type !== 'asks') return written;
    if (!(await reviews.answer(written.asked))) break;
  }
  return { type: 'elsewhere' };
}

/** Adds what the other thread noted for the answer and for the journal. */
function note(
  { warnings, audit }: ResourceCall,
  written: Exclude<LongWritten, { readonly type: 'asks' | 'elsewhere' }>,
): void {
  warnings.push(...written.warnings);
  if (written.annotations !== undefined) audit.annotations = { ...written.annotations, ...audit.annotations };
}

/** Records that a write may read, which are its definition if it is custom, its namespace, and the existing objects. */
function recordsFor(backend: Backend, call: ResourceCall, holders: readonly Place[]): TextRecord[] {
  const { definition, path } = call;
  const places: Place[] = [
    ...holders,
    ...(definition.isCustom ? [{ table: crdTable, key: `${definition.plural}.${definition.group}` }] : []),
    ...(definition.namespaced ? [{ table: '/namespaces', key: path.namespace }] : []),
    ...(path.name === '' ? [] : [placeIn(definition, path.namespace, path.name)]),
  ];
  return places.flatMap(({ table, key }) => {
    const version = backend.store.table(table).get(key);
    return version === undefined ? [] : [{ table, key, revision: version.revision, text: version.text }];
  });
}

function jobOf(
  backend: Backend,
  { path, definition, request, user }: ResourceCall,
  body: Uint8Array,
): Omit<LongWrite, 'records' | 'remainingMs' | 'review'> {
  return {
    type: 'write',
    method: request.method,
    target: request.target,
    path,
    contentType: request.header('content-type'),
    userAgent: request.header('user-agent'),
    body,
    user,
    tables: [definition.storageKey, crdTable, '/namespaces'],
    podServiceAccounts: backend.identities.podServiceAccounts,
    nowMs: backend.clock.now(),
    seed: Math.floor(backend.random() * 2 ** 32),
    uid: backend.newUid(),
  };
}

/** @throws LostRaceError if something that the write read has changed, so that it begins again */
function requireUnchanged({ store }: Backend, records: readonly TextRecord[], reviews: Reviews): void {
  if (!reviews.isCurrent())
    throw new LostRaceError('what the write looked at', { expected: 0, actual: store.revision });
  for (const { table, key, revision } of records) {
    const actual = store.table(table).get(key)?.revision ?? 0;
    if (actual !== revision) throw new LostRaceError(key, { expected: revision, actual });
  }
}

/**
 * @throws LostRaceError if there is an object by now. The next attempt receives it, and is refused or takes another
 * name
 */
function requireFree({ store }: Backend, holders: Place[], place: Place): void {
  const holder = store.table(place.table).get(place.key);
  if (holder === undefined) return;
  holders.push(place);
  throw new LostRaceError(place.key, { expected: 0, actual: holder.revision });
}

async function commit(
  backend: Backend,
  call: ResourceCall,
  {
    written,
    records,
    holders,
  }: { readonly written: Prepared; readonly records: readonly TextRecord[]; readonly holders: Place[] },
): Promise<Written> {
  const { definition, path } = call;
  const { status, stored, removed, shown } = written;
  const shownObject = shown && longObject(new LongBody(shown));
  if (removed !== undefined) {
    const present = records.find((record) => record.table === removed.table && record.key === removed.key);
    backend.store.commit({ ...removed, expected: present?.revision ?? 0 });
  }
  if (stored === undefined) {
    // The dry run of a creation, which another object may be in the way of.
    const { name = '' } = shownObject?.metadata ?? {};
    if (status === 201) requireFree(backend, holders, placeIn(definition, path.namespace, name));
    const rendering =
      shownObject === undefined ? await shownIn(definition, requirePresent(backend, call)) : renderObject(shownObject);
    return { status, rendering };
  }
  const { table, key, content } = stored;
  const expected = records.find((record) => record.table === table && record.key === key)?.revision ?? 0;
  const object = longObject(new LongBody(content));
  if (expected === 0) requireFree(backend, holders, { table, key });
  if (shownObject === undefined && definition.isCustom) definition.toStorage(object);
  const { current } = backend.store.commit({ table, key, expected, object });
  if (shown !== undefined) current.keep(definition, longObject(new LongBody(shown), String(current.revision)));
  return { status, rendering: current.in(definition) };
}
