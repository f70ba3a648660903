import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { isAlreadyExists } from '@kctl/apimachinery';
import { eventually } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { expect } from 'vitest';
import { createSharedInformer, listerWatcherFor } from '../src/index.js';
import type { HandlerRegistration, SharedInformer, SharedInformerOptions } from '../src/index.js';

/** An informer of the ConfigMaps of one namespace, which runs. */
export interface Session extends AsyncDisposable {
  readonly namespace: string;
  readonly informer: SharedInformer<ConfigMap>;
  readonly handler: HandlerRegistration;
  readonly seen: string[];
  write(name: string, value?: string): Promise<void>;
  /** The store holds exactly these `name=value`. */
  settles(expected: readonly string[]): Promise<void>;
}

/** What a case wants of its informer. */
export type SessionOptions = Partial<SharedInformerOptions<ConfigMap>>;

/** Fills a namespace of its own, and runs an informer of it until it has synced. */
export async function startSession(
  environment: TestEnvironment,
  options: SessionOptions = {},
  fill: readonly string[] = ['one', 'two'],
): Promise<Session> {
  const { client } = environment;
  const namespace = await environment.createNamespace('informer');
  const write = async (name: string, value = '1'): Promise<void> => {
    const object = { metadata: { namespace, name }, data: { value } };
    try {
      await client.create(ConfigMap, object);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await client.patch(ConfigMap, { namespace, name }, { type: 'merge', body: object });
    }
  };
  for (const name of fill) await write(name);
  const informer = createSharedInformer<ConfigMap>({
    kind: ConfigMap,
    listerWatcher: listerWatcherFor(client, ConfigMap, { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' }),
    ...options,
  });
  const seen: string[] = [];
  const handler = informer.addEventHandler({
    onEvent: ({ type, header, object }) => void seen.push(`${type} ${header.name}=${object.data?.['value']}`),
  });
  const stop = new AbortController();
  const run = informer.run(stop.signal);
  await handler.waitForSync({ signal: AbortSignal.timeout(20_000) });
  return {
    namespace,
    informer,
    handler,
    seen,
    write,
    settles: (expected) =>
      eventually(
        () => {
          expect(informer.indexer.list().map((object) => `${object.metadata.name}=${object.data?.['value']}`)).toEqual(
            [...expected].sort(),
          );
        },
        { timeoutMs: 15_000 },
      ),
    [Symbol.asyncDispose]: async () => {
      environment.embedded?.faults.clear();
      stop.abort();
      await run;
    },
  };
}
