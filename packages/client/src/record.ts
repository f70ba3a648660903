import type { KeyOrObject, Kind, ObjectKey, PersistedObject } from '@kctl/apimachinery';
import { mutableCopy } from '@kctl/apimachinery';
import { requireClientPart } from './checks/answers.js';
import type { Client, StatusClient, SubResourceClient, WatchingClient } from './client.js';
import { isKubeObject, metadataOf } from './kube-object.js';
import type { Patch } from './patch.js';
import { isWatchingClient } from './wrap.js';
import { requireClient } from './checks/require-arguments.js';

/** Verbs of a client. */
export type ClientVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deleteAllOf';

/** One call of a client, as it was made. */
export interface RecordedCall {
  readonly verb: ClientVerb;
  readonly kind: Kind;
  /** Name of the subresource, e.g. `status`. */
  readonly subResource?: string | undefined;
  /** The key, also of what was named by an object. Unset for collections, and for a create by generateName. */
  readonly key?: ObjectKey | undefined;
  /** A copy of the object or body that was sent. */
  readonly object?: unknown;
  readonly patch?: Patch | undefined;
  readonly options?: object | undefined;
}

/** A client that remembers its calls. */
export interface CallRecorder {
  /** In the order in which they began; calls that failed are there, too. */
  readonly calls: readonly RecordedCall[];
  /** The calls that write. */
  readonly writes: readonly RecordedCall[];
  /** Forgets them. */
  clear(): void;
}

const writingVerbs: ReadonlySet<ClientVerb> = new Set(['create', 'update', 'patch', 'delete', 'deleteAllOf']);

/** Returns a client that passes everything through and records its calls, for tests of a reconciler's actions. */
export function record(client: WatchingClient): WatchingClient & CallRecorder;
export function record(client: Client): Client & CallRecorder;
export function record(client: Client): Client & CallRecorder {
  requireClient('record', client, []);
  const calls: RecordedCall[] = [];
  const note = (call: RecordedCall): Client => {
    calls.push(call);
    return client;
  };
  const recorder: CallRecorder = {
    calls,
    get writes() {
      return calls.filter(({ verb }) => writingVerbs.has(verb));
    },
    clear: () => {
      calls.length = 0;
    },
  };
  const recording: Client = {
    get: async (kind, key, options) =>
      await note({ verb: 'get', kind, key: keyPart(key), options }).get(kind, key, options),
    list: async (kind, options) => await note({ verb: 'list', kind, options }).list(kind, options),
    create: async (kind, object, options) =>
      await note({ verb: 'create', kind, ...identity(object), options }).create(kind, object, options),
    update: async (kind, object, options) =>
      await note({ verb: 'update', kind, ...identity(object), options }).update(kind, object, options),
    patch: async (kind, key, patch, options) =>
      await note({ verb: 'patch', kind, key: keyPart(key), patch, options }).patch(kind, key, patch, options),
    delete: async (kind, key, options) =>
      await note({ verb: 'delete', kind, key: keyPart(key), options }).delete(kind, key, options),
    deleteAllOf: async (kind, options) => await note({ verb: 'deleteAllOf', kind, options }).deleteAllOf(kind, options),
    status: (kind) => recordStatus(kind, requireClientPart('status', client.status(kind)), note),
    subResource: <K extends Kind, B extends object = PersistedObject<K>>(
      kind: K,
      name: string,
    ): SubResourceClient<K, B> =>
      recordSubResource(
        { kind, subResource: name },
        requireClientPart('subResource', client.subResource<K, B>(kind, name)),
        note,
      ),
  };
  if (!isWatchingClient(client)) return withGetters(recording, recorder);
  const watching: WatchingClient = {
    ...recording,
    watch: async (kind, options) => {
      note({ verb: 'watch', kind, options });
      return await client.watch(kind, options);
    },
  };
  return withGetters(watching, recorder);
}

type Note = (call: RecordedCall) => void;

function recordStatus<K extends Kind>(kind: K, status: StatusClient<K>, note: Note): StatusClient<K> {
  const subResource = 'status';
  return {
    update: async (object, options) => {
      note({ verb: 'update', kind, subResource, ...identity(object), options });
      return await status.update(object, options);
    },
    patch: async (key, patch, options) => {
      note({ verb: 'patch', kind, subResource, key: keyPart(key), patch, options });
      return await status.patch(key, patch, options);
    },
  };
}

function recordSubResource<K extends Kind, B>(
  what: Pick<RecordedCall, 'kind' | 'subResource'>,
  inner: SubResourceClient<K, B>,
  note: Note,
): SubResourceClient<K, B> {
  return {
    get: async (key, options) => {
      note({ verb: 'get', ...what, key: keyPart(key), options });
      return await inner.get(key, options);
    },
    create: async (key, body, options) => {
      note({ verb: 'create', ...what, key: keyPart(key), object: mutableCopy(body), options });
      return await inner.create(key, body, options);
    },
    update: async (key, body, options) => {
      note({ verb: 'update', ...what, key: keyPart(key), object: mutableCopy(body), options });
      return await inner.update(key, body, options);
    },
    patch: async (key, patch, options) => {
      note({ verb: 'patch', ...what, key: keyPart(key), patch, options });
      return await inner.patch(key, patch, options);
    },
  };
}

/** A value that is not a key is left to the client to refuse. */
function keyPart(named: KeyOrObject<Kind>): ObjectKey | undefined {
  const given: unknown = named;
  if (typeof given !== 'object' || given === null) return undefined;
  return 'metadata' in named ? identity(named).key : named;
}

function identity(object: object): Pick<RecordedCall, 'key' | 'object'> {
  if (!isKubeObject(object)) return {};
  const metadata = metadataOf(object);
  const [namespace, name] = [metadata.namespace ?? '', metadata.name ?? ''];
  // An empty name is one that the server is to make.
  const key = name === '' ? undefined : namespace === '' ? { name } : { namespace, name };
  return { key, object: mutableCopy(object) };
}

/** `Object.assign` would call the getter once and keep its answer. */
function withGetters<C extends Client>(client: C, recorder: CallRecorder): C & CallRecorder;
function withGetters(client: Client, recorder: CallRecorder): object {
  return Object.defineProperties(client, Object.getOwnPropertyDescriptors(recorder));
}
