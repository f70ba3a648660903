import type { UntypedObject } from '@kctl/apimachinery';
import { FakeClock, settle } from '@kctl/wait/testing';
import { onTestFinished } from 'vitest';
import { createApiServer, type ApiServer, type ApiServerOptions } from '../src/index.js';

/** An answer, read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; tests look into it freely. */
  readonly body: any;
}

/** A server without a socket, on a clock that stands still. */
export interface Harness {
  readonly server: ApiServer;
  readonly clock: FakeClock;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  put(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** A merge patch. */
  merge(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  jsonPatch(path: string, operations: unknown): Promise<Answer>;
  delete(path: string, body?: unknown): Promise<Answer>;
  watch(path: string, headers?: Record<string, string>): Promise<WatchReader>;
}

/** A watch being read. */
export interface WatchReader {
  readonly status: number;
  /** The next event; undefined at the end. */
  next(): Promise<any>;
  /** `TYPE name@resourceVersion` of the next n events. */
  take(count: number): Promise<string[]>;
  /** What has arrived, without waiting for more. */
  pending(): Promise<any[]>;
  cancel(): Promise<void>;
}

function reader(response: Response): WatchReader {
  const source = response.body!.getReader();
  const decoder = new TextDecoder();
  const events: any[] = [];
  let rest = '';
  let isOver = false;
  let reading: Promise<void> | undefined;
  const read = (): Promise<void> =>
    (reading ??= source.read().then(({ done, value }) => {
      reading = undefined;
      if (done) {
        isOver = true;
        return;
      }
      rest += decoder.decode(value, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) events.push(JSON.parse(line));
    }));
  const next = async () => {
    while (events.length === 0 && !isOver) await read();
    return events.shift();
  };
  return {
    status: response.status,
    next,
    async take(count) {
      const taken: string[] = [];
      for (let i = 0; i < count; i++) {
        const event = await next();
        if (event === undefined) break;
        taken.push(
          `${event.type} ${event.object.metadata?.name ?? ''}@${event.object.metadata?.resourceVersion ?? ''}`,
        );
      }
      return taken;
    },
    async pending() {
      for (let i = 0; i < 5 && !isOver; i++) {
        void read().catch(() => undefined);
        await settle();
      }
      return events.splice(0);
    },
    cancel: () => source.cancel(),
  };
}

/** Starts a server for a test, and stops it afterwards. */
export async function harness(options: ApiServerOptions = {}): Promise<Harness> {
  const clock = new FakeClock();
  const server = createApiServer({ listen: false, clock, ...options });
  await server.start();
  onTestFinished(() => server.stop());
  const send = (method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    server.fetch(path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const call: Harness['call'] = async (method, path, body, headers) => {
    const response = await send(method, path, body, headers);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    };
  };
  return {
    server,
    clock,
    call,
    get: (path, headers) => call('GET', path, undefined, headers),
    post: (path, body, headers) => call('POST', path, body, headers),
    put: (path, body, headers) => call('PUT', path, body, headers),
    merge: (path, body, headers) =>
      call('PATCH', path, body, { 'content-type': 'application/merge-patch+json', ...headers }),
    jsonPatch: (path, operations) => call('PATCH', path, operations, { 'content-type': 'application/json-patch+json' }),
    delete: (path, body) => call('DELETE', path, body),
    watch: async (path, headers) => reader(await send('GET', path, undefined, headers)),
  };
}

export const configMaps = '/api/v1/namespaces/default/configmaps';

/** A ConfigMap. */
export const configMap = (
  name: string,
  labels?: Record<string, string>,
  data?: Record<string, string>,
): UntypedObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(labels !== undefined && { labels }) },
  ...(data !== undefined && { data }),
});

export const widgets = '/apis/ex.io/v1/namespaces/default/widgets';

/** A CustomResourceDefinition with a status subresource. */
export const widgetCrd: UntypedObject & {
  readonly spec: { readonly versions: readonly any[] } & Record<string, unknown>;
} = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.ex.io' },
  spec: {
    group: 'ex.io',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: [{ jsonPath: '.spec.color' }],
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer' },
                  max: { type: 'integer', default: 10 },
                  color: { type: 'string' },
                },
              },
              status: { type: 'object', properties: { ready: { type: 'boolean' } } },
            },
          },
        },
      },
    ],
  },
};

/** A Widget. */
export const widget = (
  name: string,
  metadata: Record<string, unknown> = {},
  spec: Record<string, unknown> = { size: 1 },
): UntypedObject => ({
  apiVersion: 'ex.io/v1',
  kind: 'Widget',
  metadata: { name, ...metadata },
  spec,
});

/** The names of some objects. */
export const namesOf = (items: readonly { readonly metadata: { readonly name: string } }[]): string[] =>
  items.map((item) => item.metadata.name);
