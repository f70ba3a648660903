/** What a case works with: requests, a namespace and custom resources of its own, and the way to clean up. */
import { createWidgetCrd, type WidgetApi } from './widgets.js';
import type { Doc, Draft } from './doc.js';
import { created, fail } from './expect.js';
import { connect, type Answer, type Connection, type Credentials, type SendOptions } from './http.js';
import type { Target } from './target.js';
import { openWatch, type Watch } from './watch.js';

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

export interface Context {
  readonly target: Target;
  get(path: string, options?: SendOptions): Promise<Answer>;
  post(path: string, body: unknown, options?: SendOptions): Promise<Answer>;
  put(path: string, body: unknown, options?: SendOptions): Promise<Answer>;
  patch(path: string, contentType: string, body: unknown, options?: SendOptions): Promise<Answer>;
  delete(path: string, body?: unknown, options?: SendOptions): Promise<Answer>;
  send(method: string, path: string, options?: SendOptions): Promise<Answer>;
  watch(path: string, options?: SendOptions): Promise<Watch>;
  /** A connection with other credentials. */
  as(credentials: Credentials): Connection;
  /** A new namespace, deleted afterwards. */
  namespace(labels?: Record<string, string>): Promise<string>;
  /** A name that no other case uses. */
  unique(prefix: string): string;
  /** The custom resource that most cases use; its definition is made once for all of them. */
  widgets(): Promise<WidgetApi>;
  /** A custom resource definition of this case alone; served when this returns. */
  crd(definition: Draft): Promise<Doc>;
  /** Asks again until `isDone`, or fails after `timeoutMs`. */
  eventually<T>(
    ask: () => Promise<T>,
    isDone: (value: T) => boolean,
    options?: { timeoutMs?: number; what?: string },
  ): Promise<T>;
  defer(cleanUp: () => Promise<unknown>): void;
}

/** What all cases of one run share. */
export interface Run {
  readonly target: Target;
  readonly connection: Connection;
  /** Distinguishes runs on one existing cluster. */
  readonly id: string;
  /** What outlives the case that asked for it first. */
  shared?: Context;
  widgets?: Promise<WidgetApi>;
  count: number;
}

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export function createContext(run: Run): { context: Context; cleanUp: () => Promise<void> } {
  const { connection, target } = run;
  const deferred: (() => Promise<unknown>)[] = [];
  const unique = (prefix: string): string => `${prefix}-${run.id}-${(run.count++).toString(36)}`;
  const send: Context['send'] = (method, path, options) => connection.send(method, path, options);

  const eventually: Context['eventually'] = async (
    ask,
    isDone,
    { timeoutMs = 20_000, what = 'the expected state' } = {},
  ) => {
    const deadline = Date.now() + timeoutMs;
    for (let wait = 10; ; wait = Math.min(wait * 1.5, 300)) {
      const value = await ask();
      if (isDone(value)) return value;
      if (Date.now() > deadline) fail(`${what} did not come within ${timeoutMs} ms; last seen: ${show(value)}`);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  };

  const crd: Context['crd'] = async (definition) => {
    const draft = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...definition };
    const { metadata, spec } = created(await send('POST', CRDS, { body: draft }));
    deferred.push(() => send('DELETE', `${CRDS}/${metadata.name}`));
    const served = (spec.versions as { name: string; served: boolean }[]).filter((version) => version.served);
    await eventually(
      () =>
        Promise.all(
          served.map(({ name }) => send('GET', `/apis/${spec.group as string}/${name}/${spec.names.plural as string}`)),
        ),
      (answers) => answers.every((answer) => answer.status === 200),
      { what: `${metadata.name} being served` },
    );
    // Served is not yet writable: a create may still answer 404 for a moment on a real server.
    return eventually(
      async () => (await send('GET', `${CRDS}/${metadata.name}`)).body,
      (doc) =>
        (doc.status.conditions as { type: string; status: string }[]).some(
          (condition) => condition.type === 'Established' && condition.status === 'True',
        ),
      { what: `${metadata.name} being established` },
    );
  };

  const context: Context = {
    target,
    send,
    get: (path, options) => send('GET', path, options),
    post: (path, body, options) => send('POST', path, { ...options, body }),
    put: (path, body, options) => send('PUT', path, { ...options, body }),
    patch: (path, contentType, body, options) => send('PATCH', path, { ...options, contentType, body }),
    delete: (path, body, options) => send('DELETE', path, { ...options, ...(body === undefined ? {} : { body }) }),
    async watch(path, options) {
      const watch = await openWatch(connection, path, options);
      deferred.push(async () => watch.close());
      return watch;
    },
    as(credentials) {
      const other = connect(target.url, target.caPem, credentials);
      deferred.push(() => other.close());
      return other;
    },
    async namespace(labels) {
      const name = unique('c');
      created(
        await send('POST', '/api/v1/namespaces', {
          body: { metadata: { name, ...(labels === undefined ? {} : { labels }) } },
        }),
      );
      deferred.push(() => send('DELETE', `/api/v1/namespaces/${name}`));
      return name;
    },
    unique,
    widgets: () => (run.widgets ??= createWidgetCrd(run.shared ?? context, run.id)),
    crd,
    eventually,
    defer: (cleanUp) => void deferred.push(cleanUp),
  };

  return {
    context,
    async cleanUp() {
      for (const step of deferred.toReversed()) await step().catch(() => undefined);
    },
  };
}

function show(value: unknown): string {
  const isAnswer = typeof value === 'object' && value !== null && 'bytes' in value;
  const { request, status, text } = value as Answer;
  return (isAnswer ? `${request}: ${status} ${text}` : JSON.stringify(value)).slice(0, 1500);
}
