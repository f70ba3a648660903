import type { Logger } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';
import type { AuthorizationMode } from './authorization/access-control.js';
import type { PemPair as KeyAndCertificate } from '@kctl/http-server/internal/certificates';
import type { ServiceAddress, ServiceResolver } from './webhooks/client-config.js';
import type { WebhookTransport } from './webhooks/webhook-call.js';

/** A user with a static bearer token. */
export interface StaticToken {
  readonly token: string;
  readonly user: string;
  /** @default [] */
  readonly groups?: readonly string[];
}

/** The tokens of service accounts. */
export interface ServiceAccountOptions {
  /**
   * Issuer of the tokens, an https URL. Of several the first issues, and all are accepted.
   *
   * @default 'https://kubernetes.default.svc.cluster.local'
   */
  readonly issuer?: string | readonly string[];
  /** Audiences of the server, for a token that names none, and for a request without audiences. @default the issuers */
  readonly audiences?: readonly string[];
  /** Private key that signs, PEM: RSA (RS256) or ECDSA on P-256, P-384 or P-521 (ES256 …). @default a new P-256 key */
  readonly signingKey?: string;
  /**
   * Further keys for verification in PEM, which are public keys, private keys or certificates, one or several in each
   * string. @default []
   */
  readonly publicKeys?: readonly string[];
  /** URL at which verifiers find the keys. @default `/openid/v1/jwks` of this server */
  readonly jwksUri?: string;
  /** Longest life of a token, in seconds. A longer one is shortened, with a warning. @default no limit */
  readonly maxTokenSeconds?: number;
  /**
   * Whether a new pod gets a service account (`default` if it names none), a volume with its token and its image pull
   * secrets, and is refused if the account does not exist, as the ServiceAccount admission plugin does.
   *
   * @default false, as under Go's envtest
   */
  readonly podAdmission?: boolean;
}

/** Selection of the controllers that run. Controllers left out have their defaults. */
export interface ControllerSwitches {
  /** Deletes what has lost its owners. @default true */
  readonly garbageCollection?: boolean;
  /** Empties namespaces that are deleted. @default true */
  readonly namespaces?: boolean;
  /** Keeps a service account `default` in each namespace. @default true */
  readonly serviceAccounts?: boolean;
  /** Takes the finalizers of protection off claims and volumes that are deleted and not in use. @default true */
  readonly volumeProtection?: boolean;
  /** Gathers the rules of ClusterRoles with an `aggregationRule`: of admin, edit and view. @default false */
  readonly clusterRoleAggregation?: boolean;
}

/** Options of {@link createApiServer}. */
export interface ApiServerOptions {
  /** Address to listen on. Only this machine can reach the default. @default '127.0.0.1' */
  readonly host?: string;
  /** 0 takes a free one; stop and start keep it. @default 0 */
  readonly port?: number;
  /** If false, there is no socket at all, and requests come by `fetch`. @default true */
  readonly listen?: boolean;
  /** Directory that keeps the data over restarts, together with the certificates. @default in memory alone */
  readonly dataDir?: string;
  /**
   * Wait for the disk at each write. Acknowledged writes then survive a power cut, at a few thousand writes/s. @default
   * false
   */
  readonly fsync?: boolean;
  /** Further DNS names and IP addresses that the certificate is valid for. @default [] */
  readonly serverNames?: readonly string[];
  /** Certificate and key to serve with, PEM. @default issued by an authority that the server makes */
  readonly servingCertificate?: KeyAndCertificate;
  /** Certificates of further authorities that vouch for client certificates, PEM: CN is the user, O are the groups. @default [] */
  readonly clientAuthorities?: readonly string[];
  /** Users besides the administrator. @default [] */
  readonly tokens?: readonly StaticToken[];
  /**
   * Whether requests without credentials are let in, as `system:anonymous`.
   *
   * @default whether `authorization` is `RBAC`, as kube-apiserver has it
   */
  readonly anonymous?: boolean;
  /**
   * Mode of authorization. With `RBAC`, the server has Roles, ClusterRoles and their bindings, with those that every
   * cluster has, and every request is authorized, except for members of `system:masters`. With `AlwaysAllow`, nothing
   * is refused.
   *
   * @default 'AlwaysAllow'
   */
  readonly authorization?: AuthorizationMode;
  /** Time for timestamps, timeouts, bookmarks and history. @default systemClock */
  readonly clock?: Clock;
  /** Randomness of generated names and watch timeouts. Uids and keys always come from node:crypto. @default Math.random */
  readonly random?: Random;
  /** Seed of the faults. @default 1 */
  readonly seed?: number;
  /** Time between bookmarks, in ms. @default 60000 */
  readonly bookmarkIntervalMs?: number;
  /** How many changes are kept for watches and old reads. @default 50000 */
  readonly historyEvents?: number;
  /** How long changes are kept, in ms. @default 300000 */
  readonly historyMs?: number;
  /** A watcher with this much waiting is cut, in bytes. @default 16777216 */
  readonly maxWatchBufferBytes?: number;
  /** Largest request body, in bytes. @default 3145728 */
  readonly maxBodyBytes?: number;
  /** Longest time for a request other than a watch, in ms. @default 60000 */
  readonly requestTimeoutMs?: number;
  /** How long `stop` lets requests finish, in ms. @default 5000 */
  readonly stopGraceMs?: number;
  /**
   * Addresses of the Services that webhook configurations name in `clientConfig.service`, as a function, or as a table
   * by `namespace/name:port` or `namespace/name`. @default none can be called
   */
  readonly resolveService?: ServiceResolver;
  /** Carries calls of webhooks, of admission and of conversion, for a simulated network. @default HTTPS */
  readonly webhookTransport?: WebhookTransport;
  /** The tokens that `serviceaccounts/<name>/token` gives out. */
  readonly serviceAccounts?: ServiceAccountOptions;
  /**
   * Controllers of kube-controller-manager that run in the server. If false, there are no controllers, as under Go's
   * envtest.
   *
   * @default true, which is all but `clusterRoleAggregation`
   */
  readonly controllers?: boolean | ControllerSwitches;
  /**
   * How long these controllers wait before they look at a change, in ms; those of a real cluster take from milliseconds to
   * seconds. @default 0: the next turn of the event loop
   */
  readonly controllerDelayMs?: number;
  /** How many journal entries are kept; 0 keeps none. @default 50000 */
  readonly journalEntries?: number;
  /** @default noopLogger */
  readonly logger?: Logger;
}

/** @throws TypeError naming the option */
export function requireIssuers(issuers: readonly string[]): void {
  if (issuers.length === 0) throw new TypeError('serviceAccounts.issuer: expected a URL, got none');
  for (const issuer of issuers)
    if (issuer === '') throw new TypeError(`serviceAccounts.issuer: expected a URL, got ${JSON.stringify(issuer)}`);
}

/** Credentials of the administrator, or of another user. */
export interface KubeconfigOptions {
  /** @default 'token' */
  readonly auth?: 'token' | 'certificate';
  /** A user to make credentials for. @default the administrator, in group system:masters */
  readonly user?: string;
  /** Groups of that user. @default [] */
  readonly groups?: readonly string[];
}

/** Options that can cross to another thread, without clock, randomness or logger, and with Services as a table only. */
export interface WorkerServerOptions
  extends Omit<ApiServerOptions, 'clock' | 'random' | 'logger' | 'listen' | 'resolveService' | 'webhookTransport'> {
  /** Addresses of the Services that webhook configurations name, by `namespace/name:port` or `namespace/name`. */
  readonly resolveService?: Readonly<Record<string, ServiceAddress>>;
}
