import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import type { AccessNeed } from '@kctl/rbac';
import {
  createConsoleLogger,
  createManager,
  keepYoungGenerationSmall,
  setupSignalHandler,
  type RuntimeManager,
  type RuntimeManagerOptions,
} from '@kctl/runtime';
import { describeError, type ConsoleLogger } from '@kctl/telemetry';
import { messageOf } from '@kctl/telemetry/internal';
import { sleep } from '@kctl/wait';
import type { RegisteredWebhooks } from '@kctl/webhook';
import { functionOption, listOption, type OptionNames, requireOptions, textOption } from '@kctl/options';
import { isSettingsError } from './errors.js';
import { createLevelReloader } from './level-reloader.js';
import { remedyOfRefusal } from './remedy-logger.js';
import { loadSettings } from './load-settings.js';
import type { SettingsSchema } from './settings-schema.js';
import { managerOptionsOf, type StandardSettings } from './standard-settings.js';

/** A kind with its CustomResourceDefinition, as returned by `defineResource` of @kctl/crd. */
export interface OperatorResource {
  readonly kind: string;
  readonly manifest: DeepReadonly<KubeObject>;
}

/** Options of {@link defineOperator}. `S`: the author's settings. */
export interface OperatorOptions<S extends object> {
  /** Name of the lease, the service account and the Deployment, in lower case letters, digits and dashes. */
  readonly name: string;
  /** Namespace that it is deployed to. @default `<name>-system` */
  readonly namespace?: string;
  /** The kinds that it brings. @default none */
  readonly resources?: readonly OperatorResource[];
  /** Settings of this operator, beside those that every operator has. @default none */
  readonly settings?: SettingsSchema<unknown, S>;
  /** More options of the manager; they win over those that follow from the settings. @default none */
  readonly manager?: (settings: StandardSettings & S) => RuntimeManagerOptions;
  /**
   * Size of V8's young generation in {@link Operator.main}. With `small` it keeps its size at that point, 2 MB in a
   * bundle, which takes 25 MB less with 10,000 objects; see `keepYoungGenerationSmall` of @kctl/runtime. With `grows`
   * it grows up to 16 MB, V8's default, for an operator that handles thousands of changes a second. A size that Node
   * was started with (`--max-semi-space-size`) counts in any case.
   *
   * @default 'small'
   */
  readonly youngGeneration?: 'small' | 'grows';
  /**
   * Adds controllers and webhooks. It is also called for the manifests, without a cluster, so it must not send
   * requests.
   */
  readonly setup: (manager: RuntimeManager, settings: StandardSettings & S) => Promise<void> | void;
}

/** Input from which manifests are generated. */
export interface OperatorGraph {
  readonly name: string;
  readonly namespace: string;
  readonly resources: readonly OperatorResource[];
  /** With leader election, whatever the settings, because a Deployment has it. */
  readonly accessNeeds: readonly AccessNeed[];
  /** Handlers by path; empty if there are no webhooks. */
  readonly webhooks: RegisteredWebhooks;
  readonly settings: StandardSettings;
}

/** An operator and its parts, before anything runs. */
export interface Operator<S extends object = object> {
  readonly name: string;
  readonly namespace: string;
  readonly resources: readonly OperatorResource[];
  /**
   * Makes its manager with everything added; it starts nothing. For tests: `createManager({ connection })`.
   *
   * @throws SettingsError when the author's settings have no default and are not given
   */
  createManager(options?: RuntimeManagerOptions, settings?: Partial<StandardSettings & S>): Promise<RuntimeManager>;
  /** Its parts, without a cluster, for `kctl generate`. */
  graph(): Promise<OperatorGraph>;
  /**
   * Runs it if `moduleUrl` is the program that Node was started with, and does nothing otherwise, so that the module
   * can be imported. Settings are those of file, environment and arguments. A failure is one line, and ends the process
   * with exit code 1, whatever else runs in it; a setting that is not valid has exit code 2.
   */
  main(moduleUrl: string): Promise<void>;
}

const optionNames: OptionNames<OperatorOptions<never>> = {
  name: true,
  namespace: textOption,
  resources: listOption('a list of resources, such as those of defineResource(…)'),
  settings: true,
  manager: functionOption,
  youngGeneration: true,
  setup: true,
};

/**
 * Defines an operator. Nothing starts, and no request is sent, before `main`.
 *
 * @throws TypeError naming what is not valid
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { defineOperator } from '@kctl/operator';
 * import { controllerManagedBy } from '@kctl/runtime';
 *
 * export const operator = defineOperator({
 *   name: 'settings',
 *   setup(manager) {
 *     controllerManagedBy(manager).for(ConfigMap).reconcile(async ({ metadata: { name } }) => manager.logger.info('seen', { name }));
 *   },
 * });
 * await operator.main(import.meta.url);
 * ```
 */
export function defineOperator<S extends object = object>(options: OperatorOptions<S>): Operator<S> {
  requireOptions('defineOperator', options, optionNames);
  const { name, namespace = `${name}-system`, resources = [], youngGeneration = 'small', setup } = options;
  if (!/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name))
    throw new TypeError(
      `defineOperator: name ${JSON.stringify(name)} is not valid: expected lower case letters, digits and dashes, at most 63`,
    );
  if (typeof setup !== 'function')
    throw new TypeError('defineOperator: setup is not a function: expected (manager) => …');
  if (youngGeneration !== 'small' && youngGeneration !== 'grows')
    throw new TypeError(
      `defineOperator: youngGeneration ${JSON.stringify(youngGeneration)} is not valid: expected 'small' or 'grows'`,
    );
  const assemble = async (
    settings: StandardSettings & S,
    more: RuntimeManagerOptions,
    logger: ConsoleLogger,
  ): Promise<RuntimeManager> => {
    const given = { ...managerOptionsOf(name, settings, logger), ...options.manager?.(settings), ...more };
    const manager = await createManager(given);
    await setup(manager, settings);
    return manager;
  };
  const defaults = async (): Promise<StandardSettings & S> => {
    const loaded = await loadSettings(name, options.settings);
    if (loaded.help !== undefined) throw new TypeError('unreachable: help without arguments');
    return loaded.settings;
  };
  const run = async (): Promise<void> => {
    const loaded = await loadSettings(name, options.settings, {
      arguments: process.argv.slice(2),
      environment: process.env,
    });
    if (loaded.help !== undefined) {
      process.stdout.write(loaded.help);
      return;
    }
    const { settings, file, fromFile } = loaded;
    const logger = createConsoleLogger({ level: settings.logLevel, format: settings.logFormat });
    const manager = await assemble(settings, {}, logger);
    if (file !== undefined && fromFile.includes('logLevel'))
      manager.add(createLevelReloader({ file, logger, clock: manager.clock }));
    await manager.run(setupSignalHandler());
  };
  return {
    name,
    namespace,
    resources,
    createManager: async (more = {}, settings = {}) => {
      const all = { ...(await defaults()), ...settings };
      return await assemble(all, more, createConsoleLogger({ level: all.logLevel, format: 'text' }));
    },
    graph: async () => {
      const settings = { ...(await defaults()), leaderElect: true, namespace };
      const silent = createConsoleLogger({ level: 'error', write: () => undefined });
      const manager = await assemble(settings, { connection: nowhere }, silent);
      try {
        // Before the webhook server is accessed, which has its rights counted.
        const accessNeeds = manager.accessNeeds();
        const webhooks = manager.webhookServer.webhooks ?? new Map();
        const hasWebhooks = webhooks.size > 0;
        return { name, namespace, resources, accessNeeds, webhooks: hasWebhooks ? webhooks : new Map(), settings };
      } finally {
        manager.metrics.close();
        await manager.liveClient[Symbol.asyncDispose]();
      }
    },
    main: async (moduleUrl) => {
      if (!isProgram(moduleUrl)) return;
      if (youngGeneration === 'small') keepYoungGenerationSmall();
      try {
        await run();
      } catch (error) {
        await written(process.stderr, `${messageOf(error)}${remedyOf(error)}\n`);
        await written(process.stdout, '');
        // Work started by `setup` may keep the process alive for ever, and a pod that does not exit is not restarted.
        process.exit(isSettingsError(error) ? 2 : 1);
      }
    },
  };
}

/** A server that never receives a request. */
const nowhere = { server: 'https://kctl.invalid', namespace: 'default' };

/** Remedy for a failure that newcomers encounter. */
function remedyOf(error: unknown): string {
  const remedy = remedyOfRefusal(error);
  if (remedy !== undefined) return `: ${remedy}`;
  const text = JSON.stringify(describeError(error));
  if (text.includes('no kubeconfig found'))
    return ': start a cluster and set KUBECONFIG, or run npx kctl dev, which needs none';
  if (!text.includes('EADDRINUSE')) return '';
  const settings = [
    ['health probe', '--health-probe-bind-address or HEALTH_PROBE_BIND_ADDRESS'],
    ['metrics', '--metrics-bind-address or METRICS_BIND_ADDRESS'],
    ['webhook', '--webhook-port or WEBHOOK_PORT'],
    ['inspection', '--inspection-bind-address or INSPECTION_BIND_ADDRESS'],
  ] as const;
  const setting = settings.find(([server]) => messageOf(error).includes(server))?.[1];
  return `: another process has the port: stop it, or give another by ${setting ?? settings.map(([, by]) => by).join(', ')}`;
}

/**
 * How long the last line waits for a reader, in ms. A pipe that is full and never read must not keep the process alive.
 */
const writeLimitMs = 2_000;

/**
 * Resolves when a stream has accepted everything up to this string, accepts nothing further, or has not accepted it in
 * time.
 */
async function written(stream: NodeJS.WritableStream, text: string): Promise<void> {
  const taken = new Promise<void>((resolve) => stream.write(text, () => resolve()));
  await Promise.race([taken, sleep(writeLimitMs)]);
}

/** Whether a module is the program of this process; links are followed, as Node does. */
function isProgram(moduleUrl: string): boolean {
  const [, script] = process.argv;
  if (script === undefined || !moduleUrl.startsWith('file:')) return false;
  try {
    return realpathSync(script) === realpathSync(fileURLToPath(moduleUrl));
  } catch {
    return false;
  }
}
