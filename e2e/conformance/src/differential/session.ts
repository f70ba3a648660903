/** One sequence of random calls in a namespace of its own, made on both servers in step. */
import { APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from '../harness/context.js';
import type { Doc, Draft, Json, WatchEvent } from '../harness/doc.js';
import { NoAnswer, type Answer, type Connection, type SendOptions } from '../harness/http.js';
import { openWatch, WatchRefused } from '../harness/watch.js';
import { randomApplication } from './applications.js';
import { divergences, type Divergence } from './compare.js';
import { randomMetadata, type RandomKind } from './kinds.js';
import { normaliseAnswer, normaliseDocument, objectKey } from './normalise.js';
import { inProtobuf, ofCustomResource, protobufEvents, PROTOBUF, readable } from './protobuf.js';
import { oddDeletion, oddGet, oddList, oddPatchTypes, oddWatch, oddWrite } from './options.js';
import type { Random } from './random.js';
import { randomRows, rowEvent, TABLE } from './tables.js';

export type Pair<T> = readonly [real: T, embedded: T];

export interface Finding {
  readonly call: number;
  readonly request: string;
  readonly body: unknown;
  readonly divergences: readonly Divergence[];
  /** Of a watch: what came, in short. */
  readonly events?: Pair<readonly string[]>;
  /** The calls about the same object before this one. */
  readonly before: readonly string[];
}

/** What a session does and compares beside its calls. */
export interface SessionExtension {
  beforeCall(): Promise<void>;
  /** A call that is compared begins. */
  begin(): void;
  /** What else it came to, on each side. */
  observe(answers: Pair<Answer>, body: unknown): Promise<Pair<Json>>;
  /** The state in which calls are made, for a finding. */
  describe(): readonly string[];
  /** Does work that nothing may refuse. */
  aside(work: () => Promise<void>): Promise<void>;
}

/** What stands for an answer that has not come. */
function cutOff({ request, message }: NoAnswer): Answer {
  const body = { message } as unknown as Doc;
  return { request, status: 0, headers: {}, bytes: Buffer.alloc(0), text: JSON.stringify(body), body, warnings: [] };
}

function firstLine(answer: Answer): Answer {
  const [text = ''] = answer.text.split('\n', 1);
  const { request, status, headers, bytes, warnings } = answer;
  return {
    request,
    status,
    headers,
    bytes,
    warnings,
    text,
    get body() {
      return answer.body;
    },
  };
}

/** Several at once. */
export function together(extensions: readonly SessionExtension[]): SessionExtension {
  return {
    async beforeCall() {
      for (const each of extensions) await each.beforeCall();
    },
    begin() {
      for (const each of extensions) each.begin();
    },
    async observe(answers, body) {
      const seen = await Promise.all(extensions.map((each) => each.observe(answers, body)));
      const merged = (side: 0 | 1): Json => Object.assign({}, ...seen.map((pair) => pair[side] as object));
      return [merged(0), merged(1)];
    },
    describe: () => extensions.flatMap((each) => each.describe()),
    aside: (work) => extensions.reduce((inner, each) => () => each.aside(inner), work)(),
  };
}

export interface SessionOptions {
  readonly extension?: SessionExtension;
  readonly connections: Pair<Connection>;
  readonly namespace: string;
  readonly kinds: readonly (readonly [number, RandomKind])[];
  readonly random: Random;
  /** Number of the next call over all sessions; undefined when there are enough. */
  readonly takeCall: () => number | undefined;
  readonly onFinding: (finding: Finding) => void;
  /** Counts what calls are made of. */
  readonly count: (what: string, times?: number) => void;
  /** Headers of a call that is made as another user. */
  readonly randomUser?: (random: Random) => Readonly<Record<string, string>> | undefined;
  /** Whether some calls about built-in kinds are sent and answered in protobuf. @default false */
  readonly protobuf?: boolean;
  /** Whether some calls have random options, most of them bad. @default false */
  readonly oddOptions?: boolean;
  /** Headers of what the session itself puts away. */
  readonly ownHeaders?: Readonly<Record<string, string>>;
}

/** An object that both servers have, as each of them last showed it. */
interface Known {
  readonly kind: RandomKind;
  readonly name: string;
  current: Pair<Doc>;
  /** Earlier states, to send stale revisions. */
  readonly earlier: Pair<Doc>[];
}

type PerSide<T> = (side: 0 | 1) => T;

interface Request {
  readonly method: string;
  readonly path: PerSide<string>;
  readonly options?: PerSide<SendOptions>;
  /** What the call is about, for the history. */
  readonly about: string;
  /** The kind whose objects its bodies are; absent where they are something else. */
  readonly kind?: RandomKind;
  /** Whether the answer is a watch, of which the first event alone is compared: when bookmarks follow depends on time. */
  readonly isWatch?: boolean;
  /** The object as the real server last showed it, for a finding. */
  readonly was?: Doc | undefined;
}

/** How a call and its answer are encoded, where that is not JSON. */
interface Encoding {
  /** Whether the body is sent in protobuf, and how many bytes of it are left out. */
  readonly body?: { readonly cut: number };
  readonly accept?: string;
}

const NAMES = ['a', 'b', 'c', 'd'];
const HISTORY = 12;

export async function runSession(options: SessionOptions): Promise<void> {
  const { random, connections, namespace, takeCall, onFinding, extension, randomUser, ownHeaders, count } = options;
  const known = new Map<string, Known>();
  const histories = new Map<string, string[]>();
  const revisions: { kind: RandomKind; at: Pair<string>; call: number }[] = [];
  const seenRevisions = new Set<string>();
  const lastRevision: Pair<Map<string, string>> = [new Map(), new Map()];
  let call = 0;
  const own: SendOptions = ownHeaders === undefined ? {} : { headers: ownHeaders };

  const both = async <T>(make: (side: 0 | 1) => Promise<T>): Promise<Pair<T>> => Promise.all([make(0), make(1)]);

  /** Sends on both sides, compares, remembers. Returns the answers when they agree. */
  const exchange = async (request: Request): Promise<Pair<Answer> | undefined> => {
    extension?.begin();
    const user = randomUser?.(random);
    const encoding = options.protobuf === true ? randomEncoding(request) : {};
    const answers = await both(async (side) => {
      const given = encoded(request, encoding, request.options?.(side) ?? {});
      const headers = { ...given.headers, ...user };
      try {
        const answer = await connections[side].send(request.method, request.path(side), { ...given, headers });
        return readable(request.isWatch === true && answer.status === 200 ? firstLine(answer) : answer);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        return cutOff(error);
      }
    });
    const history = histories.get(request.about) ?? [];
    histories.set(request.about, history);
    const original = request.options?.(0) ?? {};
    const { body } = original;
    const { contentType, accept } = encoded(request, encoding, original);
    const more = await extension?.observe(answers, body);
    for (const part of partsOf(request, { contentType, accept })) count(part);
    if (user !== undefined) count('as another user');
    const seen: Json = more?.[0];
    count('reviews by webhooks', seen?.asked?.length ?? 0);
    if (/-policy-\d|validation\.policy\./.test(JSON.stringify(seen?.annotations ?? {}) + answers[0].text))
      count('judged by a policy');
    const found = divergences(
      ...(answers.map((answer, side) => ({
        ...normaliseAnswer(answer, (key) => lastRevision[side as 0 | 1].get(key)),
        ...(more === undefined ? {} : { admission: more[side as 0 | 1] }),
      })) as unknown as Pair<Json>),
    );
    const asked = `${answers[0].request}${accept === undefined || accept === 'application/json' ? '' : ` (as ${accept})`}${contentType === undefined ? '' : ` (${contentType})`}`;
    const as = user === undefined ? '' : ` (as ${JSON.stringify(user)})`;
    const shown = `${asked}${as}${body === undefined ? '' : ` ${typeof body === 'string' ? body : JSON.stringify(body)}`} → ${answers[0].status}/${answers[1].status}`;
    const was = request.was === undefined ? [] : [`it was: ${JSON.stringify(request.was)}`];
    const before = [...history, ...was, ...(extension?.describe() ?? [])];
    if (found.length > 0) onFinding({ call, request: `${asked}${as}`, body, divergences: found, before });
    history.push(shown.slice(0, 400));
    if (history.length > HISTORY) history.shift();
    if (found.length > 0) return undefined;
    return answers;
  };

  const randomEncoding = ({ method, kind, options: make }: Request): Encoding => {
    if (kind === undefined) return {};
    const { accept = 'application/json', contentType } = make?.(0) ?? {};
    const isFree = accept === 'application/json' && random.chance(kind.isCustom ? 0.05 : 0.3);
    const isPartial = accept.startsWith('application/json;as=Partial') && random.chance(0.4);
    const isWrite = method !== 'GET' && method !== 'PATCH' && contentType === undefined;
    const isOwnKind = kind.isCustom && method !== 'DELETE' && (make?.(0).body as Json)?.kind !== 'Scale';
    return {
      ...(isFree && { accept: random.pick([PROTOBUF, PROTOBUF, `${PROTOBUF},application/json`]) }),
      ...(isPartial && { accept: accept.replace('application/json', PROTOBUF) }),
      ...(isWrite &&
        random.chance(isOwnKind ? 0.01 : 0.3) && {
          body: { cut: !isOwnKind && random.chance(0.03) ? 1 + random.below(8) : 0 },
        }),
    };
  };

  /** What is sent, in an encoding. */
  const encoded = ({ kind, method }: Request, encoding: Encoding, given: SendOptions): SendOptions => {
    const options = encoding.accept === undefined ? given : { ...given, accept: encoding.accept };
    if (kind === undefined || encoding.body === undefined) return options;
    const isDeletion = method === 'DELETE';
    const of = isDeletion ? { apiVersion: 'v1', kind: 'DeleteOptions' } : kind;
    const isScale = !isDeletion && (given.body as Json)?.kind === 'Scale';
    const bytes =
      kind.isCustom && !isDeletion && !isScale
        ? ofCustomResource(kind)
        : inProtobuf(
            isDeletion ? { ...(given.body as object), ...of } : given.body,
            isScale ? { apiVersion: 'autoscaling/v1', kind: 'Scale' } : of,
          );
    if (bytes === undefined) return options;
    return { ...options, contentType: PROTOBUF, body: bytes.subarray(0, bytes.length - encoding.body.cut) };
  };

  /** What a write answered becomes what is known of the object. */
  const learn = (kind: RandomKind, answers: Pair<Answer> | undefined): void => {
    if (answers === undefined || answers[0].status >= 300) return;
    const docs = answers.map((answer) => answer.body) as unknown as Pair<Doc>;
    if (docs[0].kind !== kind.kind) return;
    const { name } = docs[0].metadata;
    const key = keyOf(kind, name);
    const previous = known.get(key);
    if (docs[0].metadata.resourceVersion === undefined) return;
    docs.forEach((doc, side) => lastRevision[side as 0 | 1].set(objectKey(doc), doc.metadata.resourceVersion));
    if (previous === undefined) known.set(key, { kind, name, current: docs, earlier: [] });
    else {
      if (previous.current[0].metadata.resourceVersion !== docs[0].metadata.resourceVersion)
        previous.earlier.push(previous.current);
      if (previous.earlier.length > 4) previous.earlier.shift();
      previous.current = docs;
    }
    const at = docs.map((doc) => doc.metadata.resourceVersion) as unknown as Pair<string>;
    // One that was there before may be older than the history of either server.
    if (seenRevisions.has(at[0])) return;
    seenRevisions.add(at[0]);
    revisions.push({ kind, at, call });
    if (revisions.length > 40) revisions.shift();
  };

  const forget = (kind: RandomKind, name: string): void => void known.delete(keyOf(kind, name));

  /** Brings both sides to the same state after they have disagreed about an object. */
  const heal = async (kind: RandomKind, name: string): Promise<void> => {
    const path = kind.path(namespace, name);
    const putAway = async (): Promise<void> => {
      await both(async (side) => {
        const release = { ...own, contentType: MERGE_PATCH, body: { metadata: { finalizers: null } } };
        await connections[side].send('PATCH', path, release);
        await connections[side].send('DELETE', path, {
          ...own,
          body: { gracePeriodSeconds: 0, propagationPolicy: 'Background' },
        });
        await connections[side].send('PATCH', path, release);
      });
    };
    await (extension === undefined ? putAway() : extension.aside(putAway));
    forget(kind, name);
  };

  const exchangeAbout = async (
    kind: RandomKind,
    name: string,
    request: Omit<Request, 'about'>,
  ): Promise<Pair<Answer> | undefined> => {
    const was = known.get(keyOf(kind, name))?.current[0];
    const answers = await exchange({ kind, ...request, about: `${kind.kind}/${name}`, was });
    if (answers === undefined) await heal(kind, name);
    return answers;
  };

  const writeQuery = (): Record<string, string> => ({
    ...(random.chance(0.05) ? { dryRun: random.pick(['All', 'All', 'Zip']) } : {}),
    ...(random.chance(0.1) ? { fieldValidation: random.pick(['Strict', 'Warn', 'Ignore', 'Zip']) } : {}),
    ...(random.chance(0.05) ? { fieldManager: 'x'.repeat(130) } : {}),
  });

  const create = async (kind: RandomKind): Promise<void> => {
    const name = random.chance(0.03)
      ? random.pick(['Bad', 'a..b', ...(kind.kind === 'Service' ? [] : ['']), '-x', 'x'.repeat(260)])
      : random.pick(NAMES);
    const body: Draft = {
      ...(random.chance(0.97)
        ? { apiVersion: kind.apiVersion, kind: kind.kind }
        : random.pick([
            {},
            { kind: 'Zip', apiVersion: kind.apiVersion },
            ...(kind.isCustom ? [] : [{ kind: kind.kind, apiVersion: 'zip/v1' }]),
          ])),
      metadata: {
        name,
        ...(random.chance(0.03) ? { namespace: random.pick([namespace, 'elsewhere']) } : {}),
        ...(random.chance(0.01) ? { resourceVersion: '5' } : {}),
        ...randomMetadata(random),
      },
      ...kind.fields(random),
    };
    if (random.chance(0.03)) {
      const answers = await exchangeAbout(kind, 'gen-', {
        method: 'POST',
        path: () => kind.path(namespace),
        options: () => ({ body: { ...body, metadata: { ...body.metadata, name: undefined, generateName: 'gen-' } } }),
      });
      if (answers !== undefined && answers[0].status === 201)
        await both(async (side) => {
          const path = kind.path(namespace, answers[side].body.metadata.name);
          await connections[side].send('PATCH', path, {
            ...own,
            contentType: MERGE_PATCH,
            body: { metadata: { finalizers: null } },
          });
          await connections[side].send('DELETE', path, { ...own, body: { gracePeriodSeconds: 0 } });
        });
      return;
    }
    const query = writeQuery();
    const answers = await exchangeAbout(kind, name, {
      method: 'POST',
      path: () => kind.path(namespace),
      options: () => ({ body, query }),
    });
    if (query['dryRun'] === undefined) learn(kind, answers);
  };

  /** Something to work on: mostly an object that is there. */
  const subject = (kind: RandomKind): { name: string; of: Known | undefined } => {
    const present = [...known.values()].filter((entry) => entry.kind === kind);
    const of = present.length > 0 && random.chance(0.93) ? random.pick(present) : undefined;
    return { name: of?.name ?? random.pick([...NAMES, 'missing']), of };
  };

  const update = async (kind: RandomKind, subresource?: string): Promise<void> => {
    const { name, of } = subject(kind);
    const stale = of !== undefined && of.earlier.length > 0 && random.chance(0.1);
    const base = of === undefined ? undefined : stale ? (of.earlier[0] as Pair<Doc>) : of.current;
    const fields = subresource === 'status' ? { status: kind.status(random) } : kind.fields(random);
    const isNoop = random.chance(0.15);
    const revisionless = random.chance(0.1);
    const metadata = randomMetadata(random);
    const oddity = random.chance(0.05)
      ? random.pick<Draft>([
          { name: 'other' },
          { uid: 'zzz' },
          { namespace: 'elsewhere' },
          { deletionTimestamp: '2001-01-01T00:00:00Z' },
          { generation: 99 },
        ])
      : {};
    const query = writeQuery();
    const answers = await exchangeAbout(kind, name, {
      method: 'PUT',
      path: () => kind.path(namespace, name, subresource),
      options: (side) => {
        const { managedFields: _drop, ...own } = (base?.[side].metadata ?? { name }) as Doc['metadata'];
        const body: Json =
          base === undefined
            ? { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name, ...metadata }, ...fields }
            : isNoop
              ? { ...base[side], metadata: own }
              : { ...base[side], metadata: { ...own, ...metadata, ...pickOwn(own), ...oddity }, ...fields };
        if (revisionless) delete body.metadata.resourceVersion;
        return { body, query };
      },
    });
    if (query['dryRun'] === undefined) await learnOrForget(kind, name, answers);
  };

  /** The uid and so on of the object itself; random metadata must not hide them. */
  const pickOwn = (own: Doc['metadata']): Draft => ({
    uid: own.uid,
    creationTimestamp: own.creationTimestamp,
    resourceVersion: own.resourceVersion,
  });

  /** A write may have been the last one of an object that was waiting for its finalizers. */
  const learnOrForget = async (kind: RandomKind, name: string, answers: Pair<Answer> | undefined): Promise<void> => {
    if (answers === undefined || answers[0].status >= 300) return;
    const { metadata } = answers[0].body;
    if (
      metadata.deletionTimestamp !== undefined &&
      (metadata.finalizers ?? []).length === 0 &&
      !(kind.kind === 'Pod' && metadata.deletionGracePeriodSeconds !== 0)
    )
      forget(kind, name);
    else learn(kind, answers);
  };

  const apply = async (kind: RandomKind, subresource?: string): Promise<void> => {
    const { name } = subject(kind);
    const { body, query } = randomApplication(random, kind, { name, subresource });
    const answers = await exchangeAbout(kind, name, {
      method: 'PATCH',
      path: () => kind.path(namespace, name, subresource),
      options: () => ({ body, contentType: APPLY_PATCH, query }),
    });
    if (query['dryRun'] !== undefined) return;
    if (subresource === 'scale') await refresh(kind, name, answers);
    else await learnOrForget(kind, name, answers);
  };

  const patch = async (kind: RandomKind, subresource?: string): Promise<void> => {
    if (random.chance(0.25)) return apply(kind, subresource);
    const { name } = subject(kind);
    const type = random.weighted([
      [4, MERGE_PATCH],
      [3, JSON_PATCH],
      [3, STRATEGIC_PATCH],
      [0.2, 'application/json'],
    ]);
    let body: unknown;
    if (subresource === 'scale')
      body =
        type === JSON_PATCH
          ? [
              {
                op: random.pick(['replace', 'add', 'test', 'remove']),
                path: '/spec/replicas',
                value: random.pick([1, 2, 3]),
              },
            ]
          : { spec: { replicas: random.pick([0, 1, 4, -1, 'x', null]) } };
    else if (type === JSON_PATCH)
      body = Array.from({ length: 1 + random.below(3) }, () => {
        const target = random.chance(0.3)
          ? {
              path: random.pick([
                '/metadata/labels/l',
                '/metadata/annotations/a',
                '/metadata/finalizers',
                '/metadata/finalizers/0',
                '/metadata/labels',
                '/nothing/here',
                'noslash',
                '/metadata/name',
              ]),
              value: random.pick<unknown>(['a', 'z', ['kctl.test/f'], {}, null]),
            }
          : kind.operations(random);
        return {
          op: random.weighted([
            [4, 'add'],
            [4, 'replace'],
            [3, 'remove'],
            [2, 'test'],
            [1, 'move'],
            [1, 'copy'],
            [0.2, 'zip'],
          ]),
          ...target,
          ...(random.chance(0.2) ? { from: random.pick(['/metadata/labels/l', '/spec', '/data/a', '/nope/x']) } : {}),
        };
      });
    else if (subresource === 'status')
      body = {
        status: kind.status(random),
        ...(random.chance(0.2) ? { metadata: { labels: { s: 't' } }, ...kind.change(random) } : {}),
      };
    else
      body = random.weighted<() => unknown>([
        [6, () => kind.change(random)],
        [3, () => ({ metadata: { labels: { l: random.pick(['a', 'b', null, 'not ok!']) } } })],
        [1, () => ({ metadata: { annotations: { a: random.pick(['1', '2', null]) } } })],
        [2, () => ({ metadata: { finalizers: random.pick([null, [], ['kctl.test/f'], ['kctl.test/h']]) } })],
        [0.5, () => ({})],
        [0.3, () => random.pick<unknown>(['[]', 'null', '"x"', '{', ''])],
        [
          0.3,
          () => ({
            metadata: random.pick<Draft>([
              { name: 'other' },
              { resourceVersion: '1' },
              { uid: 'zzz' },
              { generation: 5 },
              { labels: 'x' },
            ]),
          }),
        ],
        [0.3, () => ({ bogus: { x: 1 } })],
        [0.2, () => ({ kind: 'Zip' })],
      ])();
    const query = writeQuery();
    const answers = await exchangeAbout(kind, name, {
      method: 'PATCH',
      path: () => kind.path(namespace, name, subresource),
      options: () => ({ body, contentType: type, query }),
    });
    if (query['dryRun'] !== undefined) return;
    if (subresource === 'scale') await refresh(kind, name, answers);
    else await learnOrForget(kind, name, answers);
  };

  /** After a write through /scale the object itself has to be read again. */
  const refresh = async (kind: RandomKind, name: string, answers: Pair<Answer> | undefined): Promise<void> => {
    if (answers === undefined || answers[0].status >= 300) return;
    learn(kind, await both((side) => connections[side].send('GET', kind.path(namespace, name))));
  };

  const scale = async (kind: RandomKind): Promise<void> => {
    if (random.chance(0.5)) return patch(kind, 'scale');
    const { name, of } = subject(kind);
    if (of === undefined || random.chance(0.4)) {
      await exchangeAbout(kind, name, { method: 'GET', path: () => kind.path(namespace, name, 'scale') });
      return;
    }
    const replicas = random.weighted<unknown>([
      [4, 0],
      [4, 1],
      [4, 2],
      [4, -1],
      [1, 'x'],
    ]);
    const withRevision = random.chance(0.7);
    const withUid = random.chance(0.15) ? random.pick(['own', 'zzz']) : undefined;
    const answers = await exchangeAbout(kind, name, {
      method: 'PUT',
      path: () => kind.path(namespace, name, 'scale'),
      options: (side) => ({
        body: {
          apiVersion: 'autoscaling/v1',
          kind: 'Scale',
          metadata: {
            name,
            namespace,
            ...(withRevision ? { resourceVersion: of.current[side].metadata.resourceVersion } : {}),
            ...(withUid === undefined ? {} : { uid: withUid === 'own' ? of.current[side].metadata.uid : withUid }),
          },
          spec: { replicas },
        },
      }),
    });
    await refresh(kind, name, answers);
  };

  const remove = async (kind: RandomKind): Promise<void> => {
    const { name, of } = subject(kind);
    const precondition = random.chance(0.15) ? random.pick(['uid', 'resourceVersion', 'wrong']) : undefined;
    const body: Draft = {
      ...(random.chance(0.3) ? { propagationPolicy: random.pick(['Foreground', 'Background', 'Orphan', 'Zip']) } : {}),
      ...(random.chance(0.15) ? { gracePeriodSeconds: random.pick([0, 5, 60]) } : {}),
      ...(random.chance(0.05) ? { dryRun: random.pick([['All'], ['Zip']]) } : {}),
      ...(random.chance(0.03) ? { orphanDependents: true } : {}),
    };
    const answers = await exchangeAbout(kind, name, {
      method: 'DELETE',
      path: () => kind.path(namespace, name),
      options: (side) => ({
        body: {
          ...body,
          ...(precondition === undefined
            ? {}
            : {
                preconditions:
                  precondition === 'wrong'
                    ? { uid: 'nope' }
                    : {
                        [precondition]:
                          of?.current[side].metadata[precondition === 'uid' ? 'uid' : 'resourceVersion'] ?? 'x',
                      },
              }),
        },
      }),
    });
    if (answers === undefined || answers[0].status >= 300 || body['dryRun'] !== undefined) return;
    const after = await both((side) => connections[side].send('GET', kind.path(namespace, name)));
    if (after[0].status === 404 || after[1].status === 404) forget(kind, name);
    else learn(kind, after);
  };

  const get = async (kind: RandomKind): Promise<void> => {
    const { name } = subject(kind);
    const accept = random.weighted([
      [6, 'application/json'],
      [1, 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'],
      [1, TABLE],
      [0.3, 'application/bogus'],
      [0.2, `${TABLE.replace('json', 'vnd.kubernetes.protobuf')},application/json`],
    ]);
    const query = accept === TABLE ? randomRows(random) : {};
    const subresource = kind.hasStatus && random.chance(0.1) ? 'status' : random.chance(0.02) ? 'nothing' : undefined;
    const answers = await exchangeAbout(kind, name, {
      method: 'GET',
      path: () => kind.path(namespace, name, subresource),
      options: () => ({ accept, query }),
    });
    if (accept === 'application/json' && subresource === undefined) learn(kind, answers);
  };

  const selectors = (kind: RandomKind): Record<string, string> => ({
    ...(random.chance(0.3)
      ? {
          labelSelector: random.pick([
            'l=a',
            'l!=a',
            'l in (a,b)',
            'l notin (a)',
            'l',
            '!l',
            'kctl.test/tier=',
            'l=a,kctl.test/tier',
            '=',
            'l in',
            'a b',
            'l>1',
          ]),
        }
      : {}),
    ...(random.chance(0.25)
      ? {
          fieldSelector: random.pick([
            'metadata.name=a',
            'metadata.name!=a',
            `metadata.namespace=${namespace}`,
            'nonsense',
            ...kind.fieldSelectors,
          ]),
        }
      : {}),
  });

  const list = async (kind: RandomKind): Promise<void> => {
    const accept = random.weighted([
      [6, 'application/json'],
      [1, 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'],
      [1.5, TABLE],
    ]);
    const rows = accept === TABLE ? randomRows(random) : {};
    const limit = random.chance(0.4) ? { limit: String(random.pick([1, 2, 3, 0, -1])) } : {};
    const base = { ...selectors(kind), ...limit, ...rows };
    const point = random.chance(0.15)
      ? revisions.filter((entry) => call - entry.call < 300).at(-1 - random.below(5))
      : undefined;
    const match = random.pick(['Exact', 'NotOlderThan', 'NotOlderThan', undefined]);
    let tokens: Pair<string> | undefined;
    for (let page = 0; page < 4; page++) {
      const from = tokens;
      const answers = await exchange({
        kind,
        about: `${kind.kind} list`,
        method: 'GET',
        path: () => kind.path(namespace),
        options: (side) => ({
          accept,
          query: {
            ...base,
            ...(from === undefined
              ? point === undefined
                ? {}
                : { resourceVersion: point.at[side], resourceVersionMatch: match }
              : { continue: from[side] }),
          },
        }),
      });
      const next = answers?.map((answer) => (answer.status === 200 ? answer.body.metadata.continue : undefined));
      if (!next?.[0] || !next[1]) return;
      tokens = [next[0], next[1]];
    }
  };

  const removeCollection = async (kind: RandomKind): Promise<void> => {
    const query = {
      ...selectors(kind),
      ...(random.chance(0.2) ? { dryRun: 'All' } : {}),
      ...(random.chance(0.2) ? { limit: String(random.pick([1, 2, -1])) } : {}),
      ...(random.chance(0.05) ? { resourceVersionMatch: 'Exact' } : {}),
    };
    const body = random.chance(0.3)
      ? { propagationPolicy: random.pick(['Foreground', 'Background', 'Orphan', 'Zip']) }
      : undefined;
    const accept = random.chance(0.15) ? TABLE : 'application/json';
    await exchange({
      kind,
      about: `${kind.kind} list`,
      method: 'DELETE',
      path: () => kind.path(namespace),
      options: () => ({ query, accept, ...(body !== undefined && { body }) }),
    });
    await readAgain(kind);
  };

  /** Reads what is known of a kind, and one object by its name. */
  const readAgain = async (kind: RandomKind, ...more: readonly string[]): Promise<void> => {
    const names = [...known.values()].filter((one) => one.kind === kind).map(({ name }) => name);
    for (const name of new Set([...names, ...more])) {
      const after = await both((side) => connections[side].send('GET', kind.path(namespace, name)));
      if (after[0].status === 200 && after[1].status === 200) learn(kind, after);
      else {
        forget(kind, name);
        if (after[0].status !== after[1].status) await heal(kind, name);
      }
    }
  };

  /** The same piece of history from both servers, up to a sentinel that is made for it. */
  const replay = async (kind: RandomKind): Promise<void> => {
    const recent = revisions.filter((entry) => call - entry.call < 300);
    if (recent.length === 0) return;
    const from = random.pick(recent);
    const labelSelector = random.pick([undefined, undefined, 'l=a', 'l!=b']);
    const about = `${kind.kind} watch`;
    const isProtobuf = options.protobuf === true && !kind.isCustom && random.chance(0.4);
    const accept = random.weighted([
      [6, 'application/json'],
      [1, 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'],
      [1, TABLE],
    ]);
    const path = kind.path(namespace);
    const sentinel: Draft = {
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { name: 'zz-sentinel', labels: { l: 'a', ready: 'sentinel' } },
      ...sentinelFields(kind),
    };
    const events = await both(async (side) => {
      const connection = connections[side];
      const made = await connection.send('POST', kind.path(namespace), { ...own, body: sentinel });
      if (made.status !== 201) throw new Error(`the sentinel was refused: ${made.status} ${made.text}`);
      await connection.send('DELETE', kind.path(namespace, 'zz-sentinel'), {
        ...own,
        body: { gracePeriodSeconds: 0 },
      });
      try {
        const query = { resourceVersion: from.at[side], labelSelector };
        const watch = isProtobuf
          ? await openWatch(connection, path, { query, accept: `${PROTOBUF};stream=watch` }, protobufEvents())
          : await openWatch(connection, path, { query, accept });
        const seen = await watch.until((event) => {
          const { type, object } = rowEvent(event);
          return type === 'ERROR' || (type === 'DELETED' && object.metadata.uid === made.body.metadata.uid);
        });
        watch.close();
        return seen.map(rowEvent);
      } catch (error) {
        if (error instanceof WatchRefused)
          return [{ type: `refused ${error.status}`, object: { message: error.text } as unknown as Doc }];
        throw error;
      }
    });
    count('replays of watches');
    if (events[0].at(-1)?.type === 'ERROR') return; // The window of the real server depends on its load.
    const shown = events.map((side) =>
      withoutRepetitions(
        side.map(({ type, object }) => ({ type, object: normaliseDocument(object, () => undefined) as Doc })),
      ),
    ) as unknown as Pair<Json>;
    let found = divergences(...shown);
    const isRepetition =
      found.length > 0 && divergences(...(shown.map(withoutForerunners) as unknown as Pair<Json>)).length === 0;
    if (isRepetition) found = [{ path: '/watch/repetition', real: shown[0], embedded: shown[1] }];
    if (found.length > 0)
      onFinding({
        call,
        request: `WATCH ${kind.path(namespace)}?labelSelector=${String(labelSelector)} from ${from.at.join(' and ')}`,
        body: undefined,
        divergences: found,
        events: events.map((side) =>
          side.map(({ type, object }) => `${type} ${object.metadata.name} ${object.metadata.resourceVersion}`),
        ) as unknown as Pair<string[]>,
        before: histories.get(about) ?? [],
      });
  };

  /** A call whose options are random. What it did is read afterwards. */
  const odd = async (kind: RandomKind): Promise<void> => {
    const { name, of } = subject(kind);
    const path = kind.path(namespace);
    const one = kind.path(namespace, name);
    const verb = random.pick([
      'delete',
      'delete',
      'deletecollection',
      'create',
      'update',
      'patch',
      'get',
      'list',
      'watch',
    ]);
    const request = ((): Omit<Request, 'about'> => {
      const at = (place: string, query: string): PerSide<string> => {
        return () => (query === '' ? place : `${place}?${query}`);
      };
      switch (verb) {
        case 'delete':
        case 'deletecollection': {
          const { query, ...options } = oddDeletion(random, verb === 'deletecollection');
          const place = verb === 'delete' ? one : path;
          return { method: 'DELETE', path: at(place, query), options: () => options };
        }
        case 'create': {
          const body = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name }, ...kind.fields(random) };
          return { method: 'POST', path: at(path, oddWrite(random)), options: () => ({ body }) };
        }
        case 'update': {
          const body = (side: 0 | 1): Json => of?.current[side] ?? { metadata: { name } };
          return { method: 'PUT', path: at(one, oddWrite(random)), options: (side) => ({ body: body(side) }) };
        }
        case 'patch': {
          const contentType = random.pick(oddPatchTypes);
          const { apiVersion } = kind;
          const body = { apiVersion, kind: kind.kind, metadata: { name, labels: { l: random.pick(['a', 'b']) } } };
          return { method: 'PATCH', path: at(one, oddWrite(random)), options: () => ({ body, contentType }) };
        }
        case 'get':
          return { method: 'GET', path: at(one, oddGet(random)) };
        case 'list':
          return { method: 'GET', path: at(path, oddList(random)) };
        default:
          return { method: 'GET', path: at(path, oddWatch(random)), isWatch: true };
      }
    })();
    count(`odd options of a ${verb}`);
    if (verb === 'get' || verb === 'list' || verb === 'watch') {
      await exchange({ ...request, about: `${kind.kind} ${verb}` });
      return;
    }
    if (verb === 'deletecollection') await exchange({ ...request, about: `${kind.kind} list` });
    else await exchangeAbout(kind, name, { ...request, kind });
    await readAgain(kind, name);
  };

  for (;;) {
    const next = takeCall();
    if (next === undefined) return;
    call = next;
    await extension?.beforeCall();
    const kind = random.weighted(options.kinds);
    const action = random.weighted<() => Promise<void>>([
      [18, () => create(kind)],
      [14, () => update(kind)],
      [22, () => patch(kind)],
      [12, () => remove(kind)],
      [10, () => get(kind)],
      [9, () => list(kind)],
      [kind.hasStatus ? 5 : 0, () => (random.chance(0.5) ? update(kind, 'status') : patch(kind, 'status'))],
      [kind.hasScale ? 4 : 0, () => scale(kind)],
      [1.5, () => removeCollection(kind)],
      [1.5, () => replay(kind)],
      [options.oddOptions === true ? 50 : 0, () => odd(kind)],
    ]);
    await action();
  }
}

/** Two versions of a kind are two kinds here, for what is sent again has the version in which it came. */
function keyOf({ apiVersion, kind }: RandomKind, name: string): string {
  return `${apiVersion}/${kind}/${name}`;
}

/** What a call is made of, for the count. */
function* partsOf(
  { method, kind }: Pick<Request, 'method' | 'kind'>,
  { contentType, accept = '' }: { readonly contentType: string | undefined; readonly accept: string | undefined },
): Iterable<string> {
  yield method;
  if (kind !== undefined) yield `${kind.kind} ${kind.apiVersion}`;
  if (contentType === APPLY_PATCH) yield 'applies';
  if (contentType === PROTOBUF) yield 'sent in protobuf';
  if (accept.startsWith(PROTOBUF)) yield 'answered in protobuf';
  if (accept.includes('as=Table')) yield 'as Tables';
  if (accept.includes('as=Partial')) yield 'as PartialObjectMetadata';
}

/** Leaves out events that show nothing new: on a real server a change of managedFields alone makes one. */
function withoutRepetitions(events: readonly WatchEvent[]): WatchEvent[] {
  const last = new Map<string, string>();
  return events.filter(({ type, object }) => {
    const text = JSON.stringify(object);
    const isRepetition = type === 'MODIFIED' && last.get(object.metadata.name) === text;
    last.set(object.metadata.name, text);
    return !isRepetition;
  });
}

/** Leaves out changes that the next event of the same object shows as they are: their forerunner may be before the replay. */
function withoutForerunners(events: readonly WatchEvent[]): WatchEvent[] {
  return events.filter(({ type, object }, index) => {
    const next = events.slice(index + 1).find((other) => other.object.metadata.name === object.metadata.name);
    return type !== 'MODIFIED' || next === undefined || JSON.stringify(next.object) !== JSON.stringify(object);
  });
}

function sentinelFields(kind: RandomKind): Draft {
  switch (kind.kind) {
    case 'Service':
      return { spec: { clusterIP: 'None', ports: [{ port: 80 }] } };
    case 'Deployment':
      return {
        spec: {
          selector: { matchLabels: { app: 'x' } },
          template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        },
      };
    case 'Pod':
      return { spec: { containers: [{ name: 'c', image: 'i' }] } };
    case 'Widget':
      return { spec: { size: 1 } };
    default:
      return {};
  }
}
