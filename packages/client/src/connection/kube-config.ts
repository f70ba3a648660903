import { readFileSync } from 'node:fs';
import { shownType, withoutUndefined } from '@kctl/options';
import type { AuthProvider, Connection, ExecPlugin, OidcRefresh, UserConnection } from './connection.js';
import { KubeConfigError } from './errors.js';
import { textOf } from './fields.js';
import { hideSecrets } from './hide-secrets.js';

/** The used fields of a cluster entry of client-node's `KubeConfig`. */
export interface KubeConfigCluster {
  readonly server: string;
  /** Base64. */
  readonly caData?: string | undefined;
  readonly caFile?: string | undefined;
  readonly tlsServerName?: string | undefined;
  readonly skipTLSVerify?: boolean | undefined;
  readonly proxyUrl?: string | undefined;
}

/** The used fields of a user entry of client-node's `KubeConfig`. */
export interface KubeConfigUser {
  readonly name: string;
  readonly certData?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyData?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly token?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly impersonateUser?: string | undefined;
  readonly exec?: unknown;
  readonly authProvider?: unknown;
}

/**
 * The slice of `KubeConfig` of @kubernetes/client-node that is used here. An instance of it fits; declared here so
 * that neither its 400 ms of loading nor its 1,100 type files are paid for by those who have none.
 */
export interface KubeConfigLike {
  getCurrentContext(): string;
  getContextObject(
    name: string,
  ): { readonly namespace?: string | undefined; readonly user?: string | undefined } | null;
  getCurrentCluster(): KubeConfigCluster | null;
  getCurrentUser(): KubeConfigUser | null;
  /** Called with an object that takes `setHeaderParam` and `setDispatcher`; used for auth providers that are not handled here. */
  applySecurityAuthentication(context: never): Promise<void>;
}

/** @throws TypeError for what is not a KubeConfig */
function requireKubeConfig(kubeConfig: unknown): void {
  const missing = ['getCurrentContext', 'getContextObject', 'getCurrentCluster', 'getCurrentUser'].find(
    (method) =>
      typeof kubeConfig !== 'object' || kubeConfig === null || typeof Reflect.get(kubeConfig, method) !== 'function',
  );
  if (missing !== undefined)
    throw new TypeError(
      `connectionFromKubeConfig: the KubeConfig is ${shownType(kubeConfig)} without ${missing}: expected new KubeConfig() of @kubernetes/client-node, loaded`,
    );
}

/**
 * The connection that the current context of a KubeConfig describes. Certificates, tokens, token files, exec plugins
 * and OIDC are handled here; other auth providers stay with the KubeConfig and are called before each request. Printed
 * or put into JSON, the connection shows `[redacted]` in place of its secrets.
 *
 * @throws KubeConfigError when there is no current context, its cluster or the user that it names is missing, the cluster has
 *   a certificate authority together with `skipTLSVerify`, the only credential is a key without a certificate, or one without a
 *   key, data are not base64, or an exec plugin has no command or another `interactiveMode` than Never, IfAvailable and Always
 */
export function connectionFromKubeConfig(kubeConfig: KubeConfigLike): Connection {
  requireKubeConfig(kubeConfig);
  const context = kubeConfig.getCurrentContext();
  const cluster = recordFrom(kubeConfig, 'getCurrentCluster');
  if (cluster === null)
    throw new KubeConfigError(
      context === '' || typeof context !== 'string'
        ? 'kubeconfig: current-context is not set: set it, or choose a context with setCurrentContext()'
        : `kubeconfig: context ${JSON.stringify(context)} does not exist, or its cluster does not`,
    );
  const user = recordFrom(kubeConfig, 'getCurrentUser');
  const userName = textOf(kubeConfig.getContextObject(context)?.user);
  // As in client-go, requests without a user in the context are anonymous on purpose, with a wrong one by mistake.
  if (user === null && userName !== undefined)
    throw new KubeConfigError(
      `kubeconfig: context ${JSON.stringify(context)} names the user ${JSON.stringify(userName)}, which does not exist: add it to users, or correct the context`,
    );
  if (cluster.skipTLSVerify === true && (textOf(cluster.caData) ?? textOf(cluster.caFile)) !== undefined)
    throw new KubeConfigError(
      `kubeconfig: context ${JSON.stringify(context)}: its cluster has insecure-skip-tls-verify with certificate-authority: take out one of them`,
    );
  const connection = withoutUndefined<Connection>({
    server: cluster.server,
    ca: fromBase64(cluster.caData, 'certificate-authority-data'),
    caFile: textOf(cluster.caData) === undefined ? textOf(cluster.caFile) : undefined,
    tlsServerName: textOf(cluster.tlsServerName),
    insecureSkipTlsVerify: cluster.skipTLSVerify === true ? true : undefined,
    proxyUrl: textOf(cluster.proxyUrl),
    namespace: textOf(kubeConfig.getContextObject(context)?.namespace),
    user: user === null ? undefined : userConnection(user, kubeConfig),
  });
  return hideSecrets(connection);
}

/** Result of a method of a KubeConfig, an object or null. */
function recordFrom<M extends 'getCurrentCluster' | 'getCurrentUser'>(
  kubeConfig: KubeConfigLike,
  method: M,
): ReturnType<KubeConfigLike[M]> | null {
  const returned = kubeConfig[method]() as ReturnType<KubeConfigLike[M]> | undefined;
  if (returned === undefined || typeof returned === 'object') return returned ?? null;
  throw new KubeConfigError(`kubeconfig: ${method} returned ${shownType(returned)}: expected an object, or null`);
}

function userConnection(user: KubeConfigUser, kubeConfig: KubeConfigLike): UserConnection {
  const provider = recordOf(user.authProvider);
  const config = recordOf(provider?.['config']);
  const exec = recordOf(user.exec) ?? recordOf(config?.['exec']);
  const tokenFile = textOf(config?.['tokenFile']);
  const impersonateUser = textOf(user.impersonateUser);
  const oidc = provider?.['name'] === 'oidc' && config !== undefined ? oidcRefresh(config) : undefined;
  requireUsable(user);
  const isOtherProvider = provider !== undefined && exec === undefined && tokenFile === undefined && oidc === undefined;
  return withoutUndefined<UserConnection>({
    certificate: fromBase64(user.certData, 'client-certificate-data'),
    certificateFile: textOf(user.certData) === undefined ? textOf(user.certFile) : undefined,
    key: fromBase64(user.keyData, 'client-key-data'),
    keyFile: textOf(user.keyData) === undefined ? textOf(user.keyFile) : undefined,
    token: textOf(user.token)?.trim(),
    tokenFile,
    username: textOf(user.username),
    password: textOf(user.password),
    exec: exec === undefined ? undefined : execPlugin(exec),
    oidc,
    provider: isOtherProvider ? delegated(kubeConfig, textOf(provider['name'])) : undefined,
    impersonate: impersonateUser === undefined ? undefined : { userName: impersonateUser },
  });
}

/** Incomplete credentials would make requests anonymous, so they are refused, as in client-go. */
function requireUsable(user: KubeConfigUser): void {
  const subject = `kubeconfig: user ${JSON.stringify(user.name)}`;
  const isSet = (...values: readonly unknown[]): boolean => values.some((value) => textOf(value) !== undefined);
  if (isSet(user.certData, user.certFile) && !isSet(user.keyData, user.keyFile))
    throw new KubeConfigError(`${subject}: client-certificate is set without client-key: set both, or none`);
  const isOther =
    isSet(user.token, user.username) || [user.exec, user.authProvider].some((way) => recordOf(way) !== undefined);
  if (isSet(user.keyData, user.keyFile) && !isSet(user.certData, user.certFile) && !isOther)
    throw new KubeConfigError(`${subject}: client-key is set without client-certificate: set both, or none`);
  if (textOf(user.token)?.trim() === '')
    throw new KubeConfigError(`${subject}: token is blank: set it, or remove the field`);
}

/**
 * Lets the KubeConfig set the header; the connection pool that it also makes is never used. A provider that the
 * KubeConfig does not know sets no header, so without this check its requests would be anonymous.
 */
function delegated(kubeConfig: KubeConfigLike, name = ''): AuthProvider {
  return {
    authorization: async () => {
      let value: string | undefined;
      const sink = {
        setHeaderParam: (name: string, text: string) => {
          if (name.toLowerCase() === 'authorization') value = text;
        },
        setDispatcher: () => undefined,
      };
      await kubeConfig.applySecurityAuthentication(sink as never);
      if (value === undefined) throw new KubeConfigError(unknownProvider(name));
      return value;
    },
  };
}

/** Why an auth provider of a kubeconfig cannot be used. */
export function unknownProvider(name: string): string {
  return `kubeconfig: auth-provider ${JSON.stringify(name)} is not known: use an exec plugin, which is what took the place of auth providers`;
}

function oidcRefresh(config: Readonly<Record<string, unknown>>): OidcRefresh {
  const issuerUrl = textOf(config['idp-issuer-url']);
  const clientId = textOf(config['client-id']);
  if (issuerUrl === undefined || clientId === undefined)
    throw new KubeConfigError('kubeconfig: auth-provider oidc: idp-issuer-url or client-id is not set');
  const caFile = textOf(config['idp-certificate-authority']);
  return withoutUndefined<OidcRefresh>({
    issuerUrl,
    clientId,
    clientSecret: textOf(config['client-secret']),
    idToken: textOf(config['id-token']),
    refreshToken: textOf(config['refresh-token']),
    ca:
      fromBase64(textOf(config['idp-certificate-authority-data']), 'idp-certificate-authority-data') ?? readCa(caFile),
  });
}

function readCa(path: string | undefined): Buffer | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    throw new KubeConfigError(`kubeconfig: cannot read idp-certificate-authority ${path}`, { cause: error });
  }
}

function execPlugin(exec: Readonly<Record<string, unknown>>): ExecPlugin {
  const command = textOf(exec['command']);
  if (command === undefined)
    throw new KubeConfigError('kubeconfig: users[].user.exec.command is not set: expected the name of a program');
  const mode = exec['interactiveMode'];
  if ((mode ?? '') !== '' && !isInteractiveMode(mode))
    throw new KubeConfigError(
      'kubeconfig: users[].user.exec.interactiveMode is not valid: expected Never, IfAvailable or Always',
    );
  return withoutUndefined<ExecPlugin>({
    command,
    args: listOf(exec['args']).map(String),
    env: listOf(exec['env']).flatMap((entry) => {
      const { name, value } = recordOf(entry) ?? {};
      return typeof name === 'string' && typeof value === 'string' ? [{ name, value }] : [];
    }),
    apiVersion: textOf(exec['apiVersion']),
    installHint: textOf(exec['installHint']),
    provideClusterInfo: exec['provideClusterInfo'] === true ? true : undefined,
    interactiveMode: isInteractiveMode(mode) ? mode : undefined,
  });
}

function isInteractiveMode(value: unknown): value is NonNullable<ExecPlugin['interactiveMode']> {
  return value === 'Never' || value === 'IfAvailable' || value === 'Always';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}

function fromBase64(value: string | undefined, field: string): Buffer | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || !isBase64(text))
    throw new KubeConfigError(`kubeconfig: ${field} is not valid: expected base64`);
  return bytes;
}

/** Line ends may stand in it, as in Go; `Buffer` passes over everything else as well. */
function isBase64(text: string): boolean {
  const compact = text.replace(/[\r\n]/g, '');
  return compact.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(compact);
}
