import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeepReadonly } from '@kctl/apimachinery';
import { Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { createApiServer, type ApiServer, type ApiServerOptions } from '@kctl/apiserver';
import { createHttpClient, type Connection, type HttpClient } from '@kctl/client-http';
import { noopLogger, type Logger } from '@kctl/telemetry';
import { loggerOption } from '@kctl/telemetry/internal';
import {
  booleanOption,
  objectOption,
  oneOfOption,
  requireOptions,
  signalOption,
  type OptionNames,
} from '@kctl/options';
import { throwIfAborted } from '@kctl/wait/internal';
import { resolveCrds, type CrdSource } from './crd-sources.js';
import { installCrds } from './install-crds.js';
import { addTestUser, type TestUser, type TestUserOptions } from './test-users.js';
import { uninstallCrds } from './uninstall-crds.js';
import {
  prepareWebhooks,
  withLocalConversion,
  type InstallWebhooksOptions,
  type LocalWebhooks,
  type WebhookConfiguration,
  type WebhookServing,
} from './install-webhooks.js';
import type { ApiServerBinaries } from './real/binaries.js';
import { startRealApiServer, type RealApiServer, type RealApiServerOptions } from './real/real-api-server.js';

/** Which server a test runs against. */
export type EnvironmentServer = 'embedded' | 'real' | 'existing';

/** Options of {@link createEnvironment}. */
export interface EnvironmentOptions {
  /**
   * `embedded`: in this process, in milliseconds. `real`: kube-apiserver and etcd from binaries. `existing`: the
   * cluster that KUBECONFIG names.
   *
   * @default KCTL_TEST_SERVER; else `existing` if USE_EXISTING_CLUSTER is 'true' (as in envtest); else `embedded`
   */
  readonly server?: EnvironmentServer;
  /**
   * Installed and established before the environment is returned. They are definitions, paths of files or folders,
   * YAML, or kinds. A resource of `defineResource` brings its definition; for any other kind a definition without a
   * schema is made, which takes any object and has a status subresource.
   */
  readonly crds?: readonly CrdSource[];
  /** Options of the embedded server. */
  readonly embedded?: ApiServerOptions;
  /**
   * Deletes `crds`, with all of their objects, at the stop, for a cluster that stays. Mirrors `CleanUpAfterUse`.
   * @default false
   */
  readonly cleanUpCrds?: boolean;
  /** `real`: flags of kube-apiserver and etcd, time-outs, tokens, the folder of the data. @default those of `startRealApiServer` */
  readonly real?: Omit<RealApiServerOptions, 'binaries' | 'controllerManager' | 'logger' | 'signal'>;
  /** `real`: also the garbage collector and the namespace controller, which the embedded server has built in. @default true */
  readonly controllerManager?: boolean;
  /** `real`: the programs. @default what KUBEBUILDER_ASSETS and TEST_ASSET_* name */
  readonly binaries?: ApiServerBinaries;
  readonly logger?: Logger;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
}

const optionNames: OptionNames<EnvironmentOptions> = {
  server: oneOfOption('embedded', 'real', 'existing'),
  crds: true,
  embedded: objectOption('options of createApiServer'),
  cleanUpCrds: booleanOption,
  real: objectOption('options of startRealApiServer'),
  controllerManager: booleanOption,
  binaries: objectOption('the paths of the programs'),
  logger: loggerOption,
  signal: signalOption,
};

/** An API server to test against. Dispose of it with `await using`. Mirrors `envtest.Environment`. */
export interface TestEnvironment extends AsyncDisposable {
  readonly server: EnvironmentServer;
  /** Administrator; for other programs. */
  readonly kubeconfigPath: string;
  /** Administrator; for `createHttpClient`. */
  readonly connection: Connection;
  /** A live client of the administrator. */
  readonly client: HttpClient;
  /** The embedded server, for faults, the journal and restarts; undefined for the others. */
  readonly embedded: ApiServer | undefined;
  /** The real server; undefined for the others. */
  readonly real: RealApiServer | undefined;
  /** Creates a separate namespace for a test, `<prefix>-<random>`. */
  createNamespace(prefix?: string): Promise<string>;
  /** Installs CustomResourceDefinitions and waits until they are established; see {@link EnvironmentOptions.crds}. */
  installCrds(crds: readonly CrdSource[]): Promise<void>;
  /** Deletes definitions with all of their objects, and waits until they are gone. */
  uninstallCrds(crds: readonly CrdSource[]): Promise<void>;
  /**
   * Adds a user with a client certificate, to test with fewer rights than the administrator's, on a real server, and on
   * an embedded one with `embedded: { authorization: 'RBAC' }`.
   *
   * @throws Error if the cluster exists, because the environment cannot add users to it
   */
  addUser(user: TestUserOptions): Promise<TestUser>;
  /**
   * A place on this machine for the webhook server of a test (host, port and certificate). The same one each time; it
   * goes with the environment.
   */
  prepareWebhooks(): Promise<WebhookServing>;
  /**
   * Points the conversion webhooks of definitions at that place, and installs them. Mirrors what envtest does to the
   * definitions of convertible kinds.
   */
  installConversion(crds: readonly CrdSource[]): Promise<void>;
  /**
   * Points webhook configurations at that place, installs them and waits until the API server acts on them. Mirrors
   * envtest's `WebhookInstallOptions`. Start the server first, because webhooks that fail closed refuse writes without
   * it.
   */
  installWebhooks(
    configurations: readonly DeepReadonly<WebhookConfiguration>[],
    options?: InstallWebhooksOptions,
  ): Promise<void>;
  /** Stops what was started; an existing cluster is not changed. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts (or finds) a server and resolves when it can be used.
 *
 * @throws NoBinariesError, EnvironmentStartError for `real`; KubeConfigError for `existing`; TypeError for an unknown server
 * or option; the reason of the signal
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { createEnvironment } from '@kctl/testing';
 *
 * await using environment = await createEnvironment();
 * const namespace = await environment.createNamespace('test');
 * await environment.client.create(ConfigMap, { metadata: { namespace, name: 'settings' }, data: { colour: 'blue' } });
 * ```
 */
export async function createEnvironment(options: EnvironmentOptions = {}): Promise<TestEnvironment> {
  requireOptions('createEnvironment', options, optionNames);
  const { signal } = options;
  throwIfAborted(signal);
  const base = await startBase(options.server ?? serverFromEnvironment(), options);
  const client = createHttpClient({ connection: base.connection, logger: options.logger ?? noopLogger });
  let stopped: Promise<void> | undefined;
  let webhooks: Promise<LocalWebhooks> | undefined;
  // Objects made after the stop would be left behind.
  const requireStarted = (what: string): void => {
    if (stopped !== undefined) throw new Error(`${what}: the environment was stopped`);
  };
  const localWebhooks = async (what: string): Promise<LocalWebhooks> => {
    requireStarted(what);
    return await (webhooks ??= prepareWebhooks());
  };
  const users: Promise<TestUser>[] = [];
  const stopAll = async (): Promise<void> => {
    try {
      if (options.cleanUpCrds === true) await uninstallCrds(client, await resolveCrds(options.crds ?? []));
    } finally {
      for (const user of await Promise.allSettled(users))
        if (user.status === 'fulfilled') await user.value.client[Symbol.asyncDispose]();
      try {
        await stopBoth(client, base);
      } finally {
        await (await webhooks)?.[Symbol.asyncDispose]();
      }
    }
  };
  const stop = (): Promise<void> => (stopped ??= stopAll());
  const environment: TestEnvironment = {
    server: base.server,
    kubeconfigPath: base.kubeconfigPath,
    connection: base.connection,
    client,
    embedded: base.embedded,
    real: base.real,
    createNamespace: async (prefix = 'test') => {
      const { metadata } = await client.create(Namespace, { metadata: { generateName: `${prefix}-` } });
      return metadata.name ?? '';
    },
    installCrds: async (crds) => await installCrds(client, await resolveCrds(crds)),
    uninstallCrds: async (crds) => await uninstallCrds(client, await resolveCrds(crds)),
    addUser: async (user) => {
      requireStarted('addUser');
      const adding = addTestUser(base, user, users.length);
      users.push(adding);
      return await adding;
    },
    prepareWebhooks: async () => (await localWebhooks('prepareWebhooks')).serving,
    installConversion: async (crds) => {
      const { serving } = await localWebhooks('installConversion');
      const definitions = await resolveCrds(crds);
      await installCrds(
        client,
        definitions.map((definition) => withLocalConversion(serving, definition)),
      );
    },
    installWebhooks: async (configurations, installOptions) =>
      await (await localWebhooks('installWebhooks')).install(client, configurations, installOptions),
    stop,
    [Symbol.asyncDispose]: stop,
  };
  try {
    const wait = signal === undefined ? {} : { signal };
    if (options.crds !== undefined) await installCrds(client, options.crds, wait);
    throwIfAborted(signal);
    return environment;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function stopBoth(client: HttpClient, base: Base): Promise<void> {
  try {
    await client[Symbol.asyncDispose]();
  } finally {
    await base.stop();
  }
}

interface Base {
  readonly server: EnvironmentServer;
  readonly kubeconfigPath: string;
  readonly connection: Connection;
  readonly embedded: ApiServer | undefined;
  readonly real: RealApiServer | undefined;
  stop(): Promise<void>;
}

function serverFromEnvironment(): EnvironmentServer {
  const named = process.env['KCTL_TEST_SERVER'] ?? '';
  if (named === 'embedded' || named === 'real' || named === 'existing') return named;
  if (named !== '')
    throw new TypeError(`KCTL_TEST_SERVER ${JSON.stringify(named)} is not known: use embedded, real or existing`);
  return process.env['USE_EXISTING_CLUSTER'] === 'true' ? 'existing' : 'embedded';
}

function startBase(server: EnvironmentServer, options: EnvironmentOptions): Promise<Base> {
  switch (server) {
    case 'embedded':
      return startEmbedded(options);
    case 'real':
      return startReal(options);
    case 'existing':
      return useExisting();
  }
}

async function startEmbedded({ embedded: options = {}, logger = noopLogger }: EnvironmentOptions): Promise<Base> {
  const folder = await mkdtemp(join(tmpdir(), 'kctl-environment-'));
  const embedded = createApiServer({ logger, ...options });
  const stop = async (): Promise<void> => {
    await embedded[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  };
  const kubeconfigPath = join(folder, 'kubeconfig');
  try {
    await embedded.start();
    embedded.writeKubeconfig(kubeconfigPath);
  } catch (error) {
    await stop();
    throw error;
  }
  const connection = { server: embedded.url, ca: embedded.certificateAuthority, user: { token: embedded.token } };
  return { server: 'embedded', kubeconfigPath, connection, embedded, real: undefined, stop };
}

async function startReal({
  controllerManager = true,
  binaries,
  real: more = {},
  logger = noopLogger,
  signal,
}: EnvironmentOptions): Promise<Base> {
  const real = await startRealApiServer({
    ...more,
    controllerManager,
    logger,
    ...(binaries === undefined ? {} : { binaries }),
    ...(signal === undefined ? {} : { signal }),
  });
  const connection = { server: real.url, ca: real.caPem, user: { token: real.adminToken } };
  return {
    server: 'real',
    kubeconfigPath: real.kubeconfigPath,
    connection,
    embedded: undefined,
    real,
    stop: () => real.stop(),
  };
}

async function useExisting(): Promise<Base> {
  const { loadConnection } = await import('@kctl/kubeconfig');
  const connection = await loadConnection();
  return {
    server: 'existing',
    kubeconfigPath: process.env['KUBECONFIG'] ?? '',
    connection,
    embedded: undefined,
    real: undefined,
    stop: () => Promise.resolve(),
  };
}
