import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Cluster, Context, User } from '@kubernetes/client-node';
import { readYaml } from '@kctl/yaml';
import { messageOf } from '@kctl/telemetry/internal';
import {
  connectionFromKubeConfig,
  hideSecrets,
  KubeConfigError,
  redact,
  unknownProvider,
  withoutUserInfo,
} from '@kctl/client/internal/connection';
import type { Connection, Impersonation, KubeContext, UserConnection } from '@kctl/client/internal/connection';
import { requireOptions, textOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { fieldProblem } from './check-fields.js';

/** Options of {@link readKubeconfig}. */
export interface ReadKubeconfigOptions {
  /** The context to use. @default the current-context of the first file that has one */
  readonly context?: string;
}

interface Entries {
  readonly clusters: Cluster[];
  readonly users: User[];
  readonly contexts: Context[];
  currentContext: string | undefined;
  /** The entries as written, by name, with the fields that client-node does not keep. The first of a name counts. */
  readonly written: { readonly clusters: Map<string, Written>; readonly users: Map<string, Written> };
}

/** A cluster or user as its file has it, and the folder to which its relative paths belong. */
interface Written {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly directory: string;
}

/** Options of {@link parseKubeconfig}. */
export interface ParseKubeconfigOptions extends ReadKubeconfigOptions {
  /** The folder to which relative paths in the kubeconfig belong. @default process.cwd() */
  readonly directory?: string;
}

/**
 * The connection that a context of these kubeconfig files describes; of several files the first entry of a name counts,
 * and those that do not exist are passed over. @kubernetes/client-node parses them; what it leaves out (tokenFile, groups
 * to impersonate, disable-compression, the config of exec plugins) is added.
 *
 * @throws KubeConfigError in one line, naming file, field and remedy; TypeError for an argument that is not valid
 */
export async function readKubeconfig(
  paths: readonly string[],
  options: ReadKubeconfigOptions = {},
): Promise<Connection> {
  requireOptions('readKubeconfig', options, readOptionNames);
  requirePaths('readKubeconfig', paths);
  if (paths.length === 0)
    throw new TypeError("readKubeconfig: there are no paths: expected one, such as ['/home/me/.kube/config']");
  return await connectionOf(await textsOf(paths), options.context);
}

/**
 * Like {@link readKubeconfig}, for a kubeconfig passed as a string, such as one from a Secret for another cluster.
 *
 * @throws KubeConfigError in one line, naming field and remedy; TypeError for an argument that is not valid
 */
export async function parseKubeconfig(text: string, options: ParseKubeconfigOptions = {}): Promise<Connection> {
  requireOptions('parseKubeconfig', options, parseOptionNames);
  requireText('parseKubeconfig', text);
  const { context, directory = process.cwd() } = options;
  return await connectionOf([{ label: 'text', text, directory }], context);
}

/**
 * The contexts of these files, or of a kubeconfig string, in their order, as `kubectl config get-contexts` prints them.
 *
 * @throws KubeConfigError in one line, naming the file that is not valid
 */
export async function readContexts(source: readonly string[] | { readonly text: string }): Promise<KubeContext[]> {
  const texts = await textsOfSource(source);
  const { contexts, clusters, currentContext } = await entriesOf(texts);
  return contexts.map(({ name, cluster, user, namespace }) => {
    const server = clusters.find((each) => each.name === cluster)?.server;
    return {
      name,
      isCurrent: name === currentContext,
      cluster,
      user,
      ...((namespace ?? '') === '' ? {} : { namespace }),
      ...(server === undefined ? {} : { server: withoutUserInfo(server) }),
    };
  });
}

/** A misspelled context would mean the current one, and so another cluster. */
const readOptionNames: OptionNames<ReadKubeconfigOptions> = { context: textOption };

const parseOptionNames: OptionNames<ParseKubeconfigOptions> = { ...readOptionNames, directory: textOption };

function requireText(what: string, text: unknown): void {
  if (typeof text !== 'string')
    throw new TypeError(`${what}: the kubeconfig is a value of type ${typeof text}: expected a string`);
}

function requirePaths(what: string, paths: unknown): void {
  if (Array.isArray(paths) && paths.every((path) => typeof path === 'string')) return;
  throw new TypeError(
    `${what}: the paths are not an array of strings: expected ['/home/me/.kube/config'], for example`,
  );
}

async function textsOfSource(source: readonly string[] | { readonly text: string }): Promise<readonly ConfigText[]> {
  const given: unknown = source;
  if (typeof given !== 'object' || given === null || !('text' in given) || !('text' in source)) {
    requirePaths('readContexts', source);
    return await textsOf(source as readonly string[]);
  }
  requireText('readContexts', source.text);
  return [{ label: 'text', text: source.text, directory: process.cwd() }];
}

interface ConfigText {
  /** Its path, for errors. */
  readonly label: string;
  readonly text: string;
  readonly directory: string;
}

async function textsOf(paths: readonly string[]): Promise<readonly ConfigText[]> {
  const texts: ConfigText[] = [];
  for (const path of paths) {
    const text = await readConfig(path, paths.length > 1);
    if (text !== undefined) texts.push({ label: path, text, directory: dirname(resolve(path)) });
  }
  if (texts.length === 0 && paths.length > 1)
    throw new KubeConfigError(`cannot read kubeconfig: none of ${paths.join(', ')} exists`);
  return texts;
}

async function entriesOf(texts: readonly ConfigText[]): Promise<Entries> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const entries: Entries = {
    clusters: [],
    users: [],
    contexts: [],
    currentContext: undefined,
    written: { clusters: new Map(), users: new Map() },
  };
  for (const { label, text, directory } of texts) {
    if (text.trim() === '') continue; // as kubectl reads a file that was made and not filled
    const part = new KubeConfig();
    let problem: string | undefined;
    try {
      const document: unknown = readYaml(text).value;
      problem = fieldProblem(document);
      if (problem === undefined) {
        // JSON is YAML, and the reader of client-node has other rules for scalars.
        part.loadFromString(JSON.stringify(document));
        part.makePathsAbsolute(directory);
        addWritten(entries.written.clusters, named(document, 'clusters', 'cluster'), directory);
        addWritten(entries.written.users, named(document, 'users', 'user'), directory);
      }
    } catch (error) {
      problem = parseReason(error);
    }
    if (problem !== undefined) throw new KubeConfigError(`kubeconfig ${label} is not valid: ${problem}`);
    addMissing(entries.clusters, part.clusters);
    addMissing(entries.users, part.users);
    addMissing(entries.contexts, part.contexts);
    entries.currentContext ??= part.currentContext === '' ? undefined : part.currentContext;
  }
  return entries;
}

async function connectionOf(texts: readonly ConfigText[], context: string | undefined): Promise<Connection> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const entries = await entriesOf(texts);
  const labels = texts.map(({ label }) => label).join(', ');
  const currentContext = context ?? entries.currentContext;
  if (currentContext === undefined)
    throw new KubeConfigError(`kubeconfig ${labels}: current-context is not set: set it, or name a context`);
  const known = entries.contexts.find(({ name }) => name === currentContext);
  if (known === undefined) {
    const names = entries.contexts.map(({ name }) => name).join(', ');
    throw new KubeConfigError(
      `kubeconfig ${labels}: context ${JSON.stringify(currentContext)} does not exist: ${names === '' ? 'the file has no contexts' : `expected ${names}`}`,
    );
  }
  requireKnownProvider(entries.users.find(({ name }) => name === known.user));
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromOptions({ ...entries, currentContext });
  const { user, ...connection } = connectionFromKubeConfig(kubeConfig);
  const cluster = entries.written.clusters.get(known.cluster)?.fields ?? {};
  return hideSecrets({
    ...connection,
    ...(cluster['disable-compression'] === true ? { disableCompression: true } : {}),
    user: completed(user ?? {}, known.user, entries.written.users.get(known.user), execConfig(cluster)),
  });
}

/** The user with what client-node leaves out of it. */
function completed(
  user: UserConnection,
  name: string,
  written: Written | undefined,
  pluginConfig: unknown,
): UserConnection {
  if (written === undefined) return user;
  const { fields, directory } = written;
  const { tokenFile, as } = fields;
  const isImpersonating = typeof as === 'string' && as !== '';
  if (!isImpersonating && impersonationFields.some((field) => isFilled(fields[field])))
    throw new KubeConfigError(
      `kubeconfig: user ${JSON.stringify(name)}: as-uid, as-groups or as-user-extra is set without as: name the user to act as`,
    );
  return {
    ...withPluginConfig(withPluginPath(user, directory), pluginConfig),
    ...(typeof tokenFile === 'string' && tokenFile !== '' ? { tokenFile: resolve(directory, tokenFile) } : {}),
    ...(isImpersonating ? { impersonate: impersonation(as, fields) } : {}),
  };
}

/** Configuration that a cluster has for exec plugins. */
function execConfig({ extensions }: Written['fields']): unknown {
  for (const { name, fields } of named({ extensions }, 'extensions', 'extension'))
    if (name === execExtension) return fields;
  return undefined;
}

/** The auth providers of @kubernetes/client-node, beside `oidc`, which is handled here. */
const authProviders = ['oidc', 'azure', 'gcp'];

/** A plugin or a token file in the provider's config is used whatever the provider is called. */
function requireKnownProvider(user: User | undefined): void {
  const provider: unknown = user?.authProvider;
  if (typeof provider !== 'object' || provider === null) return;
  const { name, config } = fieldsOf(provider);
  const { exec, tokenFile } = fieldsOf(config);
  if (exec !== undefined || tokenFile !== undefined || authProviders.includes(String(name))) return;
  throw new KubeConfigError(unknownProvider(typeof name === 'string' ? name : ''));
}

/** A plugin that is named by a relative path lies beside the kubeconfig; one without a slash is looked up in PATH. */
function withPluginPath(user: UserConnection, folder: string): UserConnection {
  const { exec } = user;
  if (exec === undefined || !/[\\/]/.test(exec.command)) return user;
  return { ...user, exec: { ...exec, command: resolve(folder, exec.command) } };
}

/** Passes the cluster's configuration for plugins to the plugin of this user. */
function withPluginConfig(user: UserConnection, config: unknown): UserConnection {
  return user.exec === undefined || config === undefined ? user : { ...user, exec: { ...user.exec, config } };
}

/** The first line of a parser's message, without what it quotes of the file. */
function parseReason(error: unknown): string {
  const line = (error instanceof Error ? error.message : 'unknown failure').split('\n', 1)[0] ?? '';
  return redact(line.replace(/"[^"]*"|'[^']*'|!<[^>]*>/g, '…'));
}

/** Of several files, kubectl passes over those that do not exist. */
async function readConfig(path: string, isOneOfSeveral: boolean): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const isMissing = typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
    if (isMissing && isOneOfSeveral) return undefined;
    const reason = isMissing ? 'the file does not exist' : messageOf(error);
    throw new KubeConfigError(`cannot read kubeconfig ${path}: ${reason}`, { cause: error });
  }
}

function addMissing<T extends { readonly name: string }>(all: T[], more: readonly T[]): void {
  for (const entry of more) if (!all.some(({ name }) => name === entry.name)) all.push(entry);
}

function addWritten(
  all: Map<string, Written>,
  more: Iterable<{ readonly name: string; readonly fields: Written['fields'] }>,
  directory: string,
): void {
  for (const { name, fields } of more) if (!all.has(name)) all.set(name, { fields, directory });
}

/** The extension of a cluster that exec plugins get as `spec.cluster.config`. */
const execExtension = 'client.authentication.k8s.io/exec';

const impersonationFields = ['as-uid', 'as-groups', 'as-user-extra'];

/** Whether a field of a kubeconfig has a value, because empty ones are written as well. */
function isFilled(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : (value ?? '') !== '';
}

function impersonation(userName: string, user: Readonly<Record<string, unknown>>): Impersonation {
  const { 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = user;
  const lists = Object.entries(fieldsOf(extra)).map(([key, values]) => [key, texts(values)]);
  return {
    userName,
    ...(typeof uid === 'string' ? { uid } : {}),
    groups: texts(groups),
    extra: Object.fromEntries(lists) as Record<string, string[]>,
  };
}

function* named(
  config: unknown,
  list: string,
  field: string,
): Generator<{ readonly name: string; readonly fields: Readonly<Record<string, unknown>> }> {
  const entries = fieldsOf(config)[list];
  for (const entry of Array.isArray(entries) ? entries : []) {
    const { name, [field]: fields } = fieldsOf(entry);
    if (typeof name === 'string') yield { name, fields: fieldsOf(fields) };
  }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
