/** A webhook of a case: an HTTPS server on this machine, and the configurations that lead to it. */
import { createServer } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCertificateAuthority } from '@kctl/testing';
import type { Context } from './context.js';
import type { Doc, Json } from './doc.js';
import { created } from './expect.js';
import type { Answer, Connection } from './http.js';

/** A request that a webhook was sent. */
export interface Review {
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly review: Json;
  /** `review.request`. */
  readonly request: Json;
}

/** What a webhook answers: `response` of its review (with the uid filled in), raw bytes, or nothing. */
export type HookAnswer =
  | { readonly response: Record<string, unknown>; readonly envelope?: Record<string, unknown> }
  | { readonly body: string; readonly status?: number; readonly contentType?: string }
  | 'hang'
  | 'cut';

export const allow = (fields: Record<string, unknown> = {}): HookAnswer => ({ response: { allowed: true, ...fields } });
export const deny = (status?: Record<string, unknown>, fields: Record<string, unknown> = {}): HookAnswer => ({
  response: { allowed: false, ...(status === undefined ? {} : { status }), ...fields },
});
const base64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64');
/** Allows, with a JSON patch; a string is sent as it is. */
export const mutate = (operations: unknown, fields: Record<string, unknown> = {}): HookAnswer =>
  allow({ patchType: 'JSONPatch', patch: base64(operations), ...fields });

/** A rule about everything that happens to some resources. */
export const rule = (group: string, resources: string | readonly string[], fields: object = {}): object => ({
  apiGroups: [group],
  apiVersions: ['*'],
  operations: ['*'],
  resources: typeof resources === 'string' ? [resources] : resources,
  ...fields,
});

export const registration = '/apis/admissionregistration.k8s.io/v1';
const collections = {
  Mutating: `${registration}/mutatingwebhookconfigurations`,
  Validating: `${registration}/validatingwebhookconfigurations`,
} as const;

/** Which configuration. */
export type HookType = keyof typeof collections;

/** A webhook server of one case. */
export interface Hook {
  readonly port: number;
  /** All requests so far, but those that only ask whether a configuration is in effect. */
  readonly reviews: readonly Review[];
  /** What it answers from now on. @default allow */
  answer: (review: Review) => HookAnswer | Promise<HookAnswer>;
  clientConfig(path: string): { readonly url: string; readonly caBundle: string };
  /** A webhook entry for one path, about this namespace alone. */
  entry(name: string, fields?: Record<string, unknown>): Record<string, unknown>;
  /** Creates a configuration of these entries and returns when it is in effect. It goes with the case. */
  install(type: HookType, entries: readonly Record<string, unknown>[], name?: string): Promise<Doc>;
  /** The requests since the last call. */
  take(): Review[];
}

/** Starts a webhook for a case in a namespace of its own. */
export async function startHook(t: Context, namespace: string): Promise<Hook> {
  const authority = await createCertificateAuthority('hook-authority', Date.now());
  const { certPem, keyPem } = await authority.issueServing({
    commonName: 'hook',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
  });
  const reviews: Review[] = [];
  const ready = new Set<string>();
  let taken = 0;
  const state = { answer: (_review: Review): HookAnswer | Promise<HookAnswer> => allow() };
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString());
      const { url = '', headers } = request;
      const isProbe = url.startsWith('/ready/');
      if (isProbe) ready.add(url.slice('/ready/'.length).split('?')[0] ?? '');
      const seen: Review = { url, headers, review, request: review.request };
      const isReadiness = isProbe || review.request.object?.metadata?.labels?.ready !== undefined;
      if (!isReadiness) reviews.push(seen);
      void (async () => {
        const answer = isReadiness ? allow() : await state.answer(seen);
        if (answer === 'hang') return;
        if (answer === 'cut') {
          response.destroy();
          return;
        }
        if ('body' in answer) {
          response.writeHead(answer.status ?? 200, { 'content-type': answer.contentType ?? 'application/json' });
          response.end(answer.body);
          return;
        }
        const { kind, apiVersion, request: asked } = review;
        const body = { kind, apiVersion, response: { uid: asked.uid, ...answer.response }, ...answer.envelope };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      })();
    });
  });
  // A connection that ends while it is idle may end under a call: a Go client reports that as a failure.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  t.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const clientConfig: Hook['clientConfig'] = (path) => ({
    url: `https://127.0.0.1:${port}${path}`,
    caBundle: Buffer.from(authority.ca.certPem).toString('base64'),
  });
  const here = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  const entry: Hook['entry'] = (name, fields = {}) => ({
    name,
    clientConfig: clientConfig(`/${name.split('.')[0] ?? ''}`),
    namespaceSelector: here,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 5,
    ...fields,
  });

  const install: Hook['install'] = async (type, entries, name = t.unique('hook')) => {
    const token = t.unique('ready');
    const probe = entry('ready.kctl.test', {
      clientConfig: clientConfig(`/ready/${token}`),
      rules: [rule('', 'configmaps', { operations: ['CREATE'] })],
      objectSelector: { matchLabels: { ready: token } },
    });
    t.defer(() => t.delete(`${collections[type]}/${name}`));
    const made = created(
      await t.post(collections[type], {
        kind: `${type}WebhookConfiguration`,
        apiVersion: 'admissionregistration.k8s.io/v1',
        metadata: { name },
        webhooks: [...entries, probe],
      }),
    );
    const draft = { metadata: { generateName: 'ready-', labels: { ready: token } } };
    await t.eventually(
      async () => {
        const answer = await t.post(`/api/v1/namespaces/${namespace}/configmaps`, draft, { query: { dryRun: 'All' } });
        return ready.has(token) ? '' : answer.text;
      },
      (text) => text === '',
      { what: `${name} being in effect` },
    );
    return made;
  };

  return Object.assign(state, {
    port,
    reviews,
    clientConfig,
    entry,
    install,
    take: () => {
      const fresh = reviews.slice(taken);
      taken = reviews.length;
      return fresh;
    },
  });
}

/**
 * A context whose writes return when the server's caches have seen them: a real server may otherwise begin the next write
 * with a state that is a few ms old, and ask its webhooks once more than it has to.
 */
export function steady(t: Context): Context {
  const settled = async (path: string, answer: Answer): Promise<Answer> => {
    const collection = collectionOf(path);
    // A list without a version waits until the cache has all that has been written.
    await t.get(collection, { query: { labelSelector: 'no=such' } });
    return answer;
  };
  return {
    ...t,
    post: async (path, body, options) => settled(path, await t.post(path, body, options)),
    put: async (path, body, options) => settled(path, await t.put(path, body, options)),
    patch: async (path, type, body, options) => settled(path, await t.patch(path, type, body, options)),
    delete: async (path, body, options) => settled(path, await t.delete(path, body, options)),
  };
}

/** As {@link steady}, for a connection. */
export function steadyConnection(connection: Connection): Connection {
  return {
    ...connection,
    send: async (method, path, options) => {
      const answer = await connection.send(method, path, options);
      if (method !== 'GET')
        await connection.send('GET', collectionOf(path.split('?')[0] ?? ''), { query: { labelSelector: 'no=such' } });
      return answer;
    },
  };
}

function collectionOf(path: string): string {
  const [, root = '', ...rest] = path.split('/');
  const head = ['', root, ...rest.splice(0, root === 'api' ? 1 : 2)];
  const [first = '', namespace, resource] = rest;
  return [...head, ...(first === 'namespaces' && resource !== undefined ? [first, namespace, resource] : [first])].join(
    '/',
  );
}

/** What happened in a case, one line each, without what differs from run to run. */
export interface Transcript {
  readonly lines: string[];
  /** A line of its own. */
  say(line: string): void;
  /** An answer: status, what a Status says, warnings, and what `pick` takes of an object. */
  answer(what: string, answer: Answer, pick?: (body: Doc) => unknown): Answer;
  /** The requests that the webhook was sent since the last time: in order, or sorted where several are asked at once. */
  reviews(hook: Hook, show?: (review: Review) => unknown, options?: { readonly isSorted?: boolean }): void;
  /** Compares with what a real server told. */
  is(expected: string): void;
}

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Starts a transcript. `names` are replaced by their keys. */
export function transcript(names: Readonly<Record<string, string | number>>): Transcript {
  const lines: string[] = [];
  const hide = (text: string): string =>
    Object.entries(names)
      .reduce((hidden, [name, value]) => hidden.replaceAll(String(value), name), text)
      .replaceAll(uid, 'UID');
  const say = (line: string): void => void lines.push(hide(line));
  return {
    lines,
    say,
    answer(what, answer, pick) {
      const { status, warnings, body } = answer;
      const isFailure = body.kind === 'Status' && body.status === 'Failure';
      const details = isFailure && body.details !== undefined ? ` ${sorted(body.details)}` : '';
      const text = isFailure
        ? ` ${body.reason ?? '-'} ${body.message}${details}`
        : pick === undefined
          ? ''
          : ` ${sorted(pick(body))}`;
      say(`${what}: ${status}${text}`);
      for (const warning of warnings) say(`  warning: ${warning}`);
      return answer;
    },
    reviews(hook, show = ({ request }) => request.operation as unknown, { isSorted = false } = {}) {
      const asked = hook.take().map((review) => {
        const shown = show(review);
        return `  ${review.url} ${typeof shown === 'string' ? shown : sorted(shown)}`;
      });
      const fresh = isSorted ? asked.toSorted() : asked;
      if (fresh.length === 0) say('  no review');
      // A real server asks once more where it began with a state that was a few ms old.
      for (const [index, line] of fresh.entries()) if (line !== fresh[index - 1]) say(line);
    },
    is(expected) {
      const wanted = expected
        .split('\n')
        .map((line) => line.trimEnd())
        .filter((line) => line !== '');
      const margin = Math.min(...wanted.map((line) => line.length - line.trimStart().length), Infinity);
      const told = lines.join('\n');
      recorded.set(expected, told);
      const text = wanted.map((line) => line.slice(margin)).join('\n');
      if (told === text) return;
      const at = lines.findIndex((line, index) => line !== text.split('\n')[index]);
      throw new Error(
        `line ${at + 1} differs: expected\n${text.split('\n')[at] ?? '(nothing)'}\ngot\n${lines[at] ?? '(nothing)'}\n--- all:\n${told}`,
      );
    },
  };
}

/** What transcripts told, by what was expected: to write down what a real server does. */
export const recorded = new Map<string, string>();

/** JSON with sorted keys. */
export function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
