import type { NamespacedKey } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { channelSource, createWebhookReceiver } from '@kctl/controller';
import { createHttpServer } from '@kctl/manager';
import {
  controllerManagedBy,
  createManager,
  createOrUpdate,
  type RuntimeManager,
  type RuntimeManagerOptions,
} from '@kctl/runtime';

/** A push, as a source-code host reports it. */
export interface Push {
  readonly repository: string;
  readonly commit: string;
}

/** Options of {@link createDeployer}. */
export interface DeployerOptions {
  readonly manager: RuntimeManagerOptions;
  readonly namespace: string;
  /** Where pushes are reported to: `POST /push`. */
  readonly port: number;
  readonly host?: string;
}

/**
 * Reconciles what happens outside of the cluster: pushes arrive at an HTTP endpoint, become events of a channel source,
 * and are queued by repository; the reconciler writes the newest commit of a repository into its ConfigMap. Ten pushes
 * that arrive while one is worked on lead to one more run, with the newest commit.
 */
export async function createDeployer({
  manager: options,
  namespace,
  port,
  host = '127.0.0.1',
}: DeployerOptions): Promise<RuntimeManager> {
  const newest = new Map<string, string>();
  const receiver = createWebhookReceiver<NamespacedKey>({
    path: '/push',
    read: ({ body }) => {
      const push = readPush(body);
      newest.set(push.repository, push.commit);
      return [{ namespace, name: push.repository }];
    },
    identify: ({ name }) => name,
  });
  const manager = await createManager(options);
  manager.add(
    createHttpServer({
      name: 'push receiver',
      port,
      host,
      handlers: [receiver.handle],
      logger: manager.logger,
      clock: manager.clock,
    }),
  );
  controllerManagedBy(manager)
    .named('deployer')
    .watchesRawSource(
      channelSource<NamespacedKey, NamespacedKey>({
        name: 'pushes',
        events: receiver.events,
        handler: ({ object }, queue) => {
          queue.add(object);
          return undefined;
        },
      }),
    )
    .needs(ConfigMap, ['get', 'create', 'update'], { namespaces: [namespace] })
    // A function on keys: the ConfigMap of a push may not exist yet.
    .complete(async ({ name }, { signal, logger }) => {
      const commit = newest.get(name);
      if (commit === undefined) return;
      const { result } = await createOrUpdate(
        manager.client,
        ConfigMap,
        { namespace, name },
        { signal, mutate: (draft) => void (draft.data = { commit }) },
      );
      logger.info(`${name} is at ${commit}`, { result });
    });
  return manager;
}

function readPush(body: unknown): Push {
  if (typeof body !== 'object' || body === null || !('repository' in body) || !('commit' in body))
    throw new TypeError('a push has a repository and a commit');
  const { repository, commit } = body;
  if (typeof repository !== 'string' || typeof commit !== 'string')
    throw new TypeError('repository and commit must be text');
  return { repository, commit };
}
