import { StatusError } from '@kctl/apimachinery';
import { crdTable, storageKeyOf, type Backend, type ResourceCall } from '../handlers/call.js';
import { isReviewed } from '../handlers/admission.js';
import { createAttributes } from '../handlers/create-right.js';
import { isLongBody } from '../handlers/body.js';
import { retryOnLostRace } from '../handlers/commit.js';
import { shownIn } from '../handlers/conversions.js';
import { requirePresent } from '../handlers/update.js';
import type { WritePlan } from '../handlers/write-plan.js';
import type { Written } from '../handlers/written.js';
import { TooDeepError } from '../codecs/strict-json.js';
import { grantingTables } from '../authorization/rbac/escalation.js';
import type { ResourceDefinition } from '../registry/resource.js';
import type { ApiRequest } from '../server/api-request.js';
import { LostRaceError } from '../storage/errors.js';
import { LongBody, longBodyOf, longObject, objectText } from '../storage/long-object.js';
import { renderObject, type ObjectVersion } from '../storage/version.js';
import type { LongWrite, LongWritten, TextRecord } from './long-write.js';

type Prepared = Extract<LongWritten, { readonly type: 'prepared' }>;

/** What controllers and the authorizer read at each write stays in this thread. */
const keptTables: ReadonlySet<string> = new Set([crdTable, ...grantingTables]);

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

/** Whether a write is long, as it is sent or as its object is stored. */
function isLongWrite(backend: Backend, call: ResourceCall, { length }: Uint8Array): boolean {
  const { definition } = call;
  if (isLongBody({ length })) return true;
  const present = definition.conversion === undefined ? presentOf(backend, call) : undefined;
  if (present === undefined) return false;
  return (
    longBodyOf(present.object) !== undefined || isLongBody({ length: length + present.in(definition).tail.length })
  );
}

/** Whether a write failed because the stack of this thread is too short for its walks. */
function isTooDeep(error: unknown): boolean {
  return error instanceof TooDeepError || (error instanceof RangeError && error.message.includes('call stack'));
}

/** Whether other threads could do a write: it needs nothing of the server but its store. */
function isPortable(backend: Backend, call: ResourceCall): boolean {
  const { definition } = call;
  return definition.conversion === undefined && !keptTables.has(definition.storageKey) && !isReviewed(backend, call);
}

/**
 * Writes an object. Where it is long, as it is sent or as it is stored, another thread prepares all of the write from the
 * bytes of the request to the JSON of the new state: this one commits it, and answers with its text.
 *
 * @throws StatusError
 */
export async function writeHereOrThere(backend: Backend, call: ResourceCall, plan: WritePlan): Promise<Written> {
  const body = await call.request.readBody();
  const here = { ...call, request: withBody(call.request, body) };
  if (isLongWrite(backend, call, body) && isPortable(backend, call)) return writeThere(backend, here, { plan, body });
  const warned = call.warnings.length;
  try {
    return await plan.write(backend, here);
  } catch (error) {
    if (!isTooDeep(error) || !isPortable(backend, call)) throw error;
    call.warnings.length = warned;
    return writeThere(backend, here, { plan, body });
  }
}

interface Wanted {
  readonly plan: WritePlan;
  readonly body: Uint8Array;
}

async function writeThere(backend: Backend, call: ResourceCall, { plan, body }: Wanted): Promise<Written> {
  const { request } = call;
  /** Objects that turned out to be in the way of a name. */
  const holders: Place[] = [];
  return retryOnLostRace(async () => {
    const records = recordsFor(backend, call, holders);
    const written = await backend.offload.run(jobOf(backend, call, { body, records }), request.signal);
    switch (written.type) {
      case 'elsewhere':
        return plan.write(backend, call);
      case 'failed':
        call.warnings.push(...written.warnings);
        throw new StatusError(written.status);
      case 'prepared': {
        requireUnchanged(backend, records);
        const done = await commit(backend, call, { written, records, holders });
        call.warnings.push(...written.warnings);
        return done;
      }
    }
  }, request.signal);
}

/** What a write may look at: its definition where it is custom, its namespace, and what is there. */
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
    return version === undefined ? [] : [{ table, key, revision: version.revision, text: objectText(version.object) }];
  });
}

function jobOf(
  backend: Backend,
  call: ResourceCall,
  { body, records }: { readonly body: Uint8Array; readonly records: readonly TextRecord[] },
): LongWrite {
  const { path, definition, request, user } = call;
  const mayCreate = request.method !== 'POST';
  return {
    type: 'write',
    method: request.method,
    target: request.target,
    path,
    contentType: request.header('content-type'),
    userAgent: request.header('user-agent'),
    body,
    user,
    records,
    tables: [definition.storageKey, crdTable, '/namespaces'],
    podServiceAccounts: backend.identities.podServiceAccounts,
    creation: mayCreate ? backend.access.authorizer.authorize(createAttributes(call)) : undefined,
    nowMs: backend.clock.now(),
    seed: Math.floor(backend.random() * 2 ** 32),
    uid: backend.newUid(),
  };
}

/** @throws LostRaceError where something that the write looked at has changed: it begins again */
function requireUnchanged({ store }: Backend, records: readonly TextRecord[]): void {
  for (const { table, key, revision } of records) {
    const actual = store.table(table).get(key)?.revision ?? 0;
    if (actual !== revision) throw new LostRaceError(key, { expected: revision, actual });
  }
}

/** @throws LostRaceError where there is an object by now; the next attempt is given it: it is refused, or takes another name */
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
  const { status, stored, shown } = written;
  const shownObject = shown && longObject(new LongBody(shown));
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
