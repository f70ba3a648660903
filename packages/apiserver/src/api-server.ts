import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import type { DeepReadonly, UntypedObject } from '@kctl/apimachinery';
import { noopLogger } from '@kctl/telemetry';
import { sleep, systemClock } from '@kctl/wait';
import { createReviews } from './admission/reviews.js';
import { loadSigningKey, readTokenKeys, type TokenKeys } from './authentication/service-account-keys.js';
import { createServiceAccountTokens, type ServiceAccountTokens } from './authentication/service-account-tokens.js';
import { createAccessControl } from './authorization/access-control.js';
import { requireIssuers, type ApiServerOptions, type KubeconfigOptions } from './api-server-options.js';
import { checkServerOptions, failoverMs } from './check-options.js';
import { bootKubernetesService } from './boot/kubernetes-service.js';
import { bootNamespaces } from './boot/namespaces.js';
import { bootSystemObjects } from './boot/system-objects.js';
import { startControllers, type Controllers } from './controllers/controllers.js';
import { createFaultEngine } from './faults/engine.js';
import type { Faults } from './faults/faults.js';
import type { Backend } from './handlers/call.js';
import { seed } from './handlers/seed.js';
import { createJournal, journalCommits, type Journal } from './journal/journal.js';
import { createPodScripts, type PodScripts } from './scripts/pod-scripts.js';
import { builtInDefinitions } from './registry/builtins.js';
import { createLongReader } from './long-reads/long-reader.js';
import { createRegistry } from './crd/create-registry.js';
import { createAuthenticator } from './authentication/authenticator.js';
import { loadIdentity, type Identity } from './server/identity.js';
import { createDirectAnswer, type DirectAnswer } from './server/direct.js';
import { createFetch, type InProcessFetch } from './server/in-process.js';
import { subscribeCommits, type Commit } from './commits.js';
import type { PemPair as KeyAndCertificate } from '@kctl/http-server/internal/certificates';
import { kubeconfigText } from './server/kubeconfig.js';
import { createListener, type Listener } from './server/listener.js';
import { createPipeline, type Pipeline } from './server/pipeline.js';
import { createOffload, type Offload } from './offload/offload.js';
import { openPersistence, type Persistence } from './storage/persistence.js';
import { createStore, type Store, type StoreSnapshot } from './storage/store.js';
import { createWatchHub, type WatchHub } from './watch/hub.js';
import { createWebhookCaller, type WebhookConnections } from './outgoing/webhook-caller.js';
import { seededRandom } from './process/seeded-random.js';

/** A Kubernetes API server. Nothing runs before {@link ApiServer.start}. */
export interface ApiServer extends AsyncDisposable {
  /**
   * Loads the data, listens. Resolves when requests are answered. After `stop` it starts again on the same port with
   * the same data.
   *
   * @throws StoreLockedError, CorruptStoreError; an error with code EADDRINUSE when the port is taken
   */
  start(): Promise<void>;
  /** Ends watches properly, lets requests finish, refuses new ones. Stopping twice is harmless. */
  stop(): Promise<void>;
  /** `https://127.0.0.1:port`. @throws when the server has never listened */
  readonly url: string;
  /** The certificate authority, PEM. */
  readonly certificateAuthority: string;
  /** Bearer token of the administrator. */
  readonly token: string;
  /** A kubeconfig as YAML. */
  kubeconfig(options?: KubeconfigOptions): string;
  /** Writes a kubeconfig that only its owner can read. */
  writeKubeconfig(path: string, options?: KubeconfigOptions): void;
  /** A client certificate for a user, signed by the authority that the server trusts. */
  issueClientCertificate(user: string, groups?: readonly string[]): KeyAndCertificate;
  /** A bearer token for a user. */
  issueToken(user: string, groups?: readonly string[]): string;
  /** Faults on demand. */
  readonly faults: Faults;
  /** Answers for kubelets with logs, exec, attach and port-forward of pods, as tests script them. */
  readonly pods: PodScripts;
  /** Requests, responses, commits and faults, in order. */
  readonly journal: Journal;
  /**
   * The in-process transport, with the same chain and the same answers, but no socket. Without an Authorization header
   * the user is the administrator.
   */
  readonly fetch: InProcessFetch;
  /** Like {@link ApiServer.fetch} for plain data, below the web's streams, for a simulated network. */
  readonly answer: DirectAnswer;
  /** Calls back for every commit, synchronously, as it takes effect. Returns the function that ends it. */
  onCommit(listener: (commit: Commit) => void): () => void;
  /** The latest revision. */
  readonly revision: number;
  /** How many watches are open and have caught up. */
  readonly watchers: number;
  /**
   * Puts objects into the store with their given status, uid and times, in one step each, past admission, and over
   * objects of the same name. Fields that they leave open are filled in as by a create; a namespace is `default`.
   *
   * @returns the objects as they are then read, in order
   * @throws TypeError for a kind that is not served, an unknown field, and a namespace that does not exist; StatusError
   *   422 for an object that is not valid
   *
   * @example
   * ```ts
   * import { createApiServer } from '@kctl/apiserver';
   *
   * const server = createApiServer();
   * await server.start();
   * await server.seed([
   *   { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', uid: 'uid-1' }, status: { phase: 'Running' } },
   * ]);
   * ```
   */
  seed(objects: readonly DeepReadonly<UntypedObject>[]): Promise<readonly UntypedObject[]>;
  /** All live objects, for {@link ApiServer.restore}. */
  snapshot(): StoreSnapshot;
  /** Puts all objects back to a snapshot. Watches end; the revision goes on; older resourceVersions are expired. */
  restore(snapshot: StoreSnapshot): void;
  /** Forgets history up to a revision; older reads and watches are expired. @default all history */
  compact(revision?: number): number;
}

const administrator = { name: 'kubernetes-admin', groups: ['system:masters'] };
/** User of in-process requests. */
const inProcessUser = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

/**
 * Makes a server; see {@link ApiServer}.
 *
 * @throws TypeError for an unknown option, or one of the wrong type
 *
 * @example
 * ```ts
 * import { createApiServer } from '@kctl/apiserver';
 *
 * const server = createApiServer();
 * await server.start();
 * server.writeKubeconfig('kubeconfig.yaml');
 * console.log(server.url);
 * await server.stop();
 * ```
 */
export function createApiServer(options: ApiServerOptions = {}): ApiServer {
  checkServerOptions(options);
  return new EmbeddedApiServer(options);
}

/** Longest work of one request in another thread, in ms; CEL and YAML at their limits take 5 s of CPU. */
const maxJobMs = 30_000;
const defaultIssuer = 'https://kubernetes.default.svc.cluster.local';

class EmbeddedApiServer implements ApiServer {
  readonly #options: ApiServerOptions;
  readonly #clock;
  readonly #journal;
  readonly #engine;
  readonly #authenticator;
  readonly #backend: Backend;
  readonly #webhooks: WebhookConnections;
  readonly #offload: Offload;
  readonly #pipeline;
  readonly faults: Faults;
  readonly pods: PodScripts;
  readonly fetch: InProcessFetch;
  readonly answer: DirectAnswer;
  #identity: Identity | undefined;
  #tokenKeys: TokenKeys | undefined;
  #persistence: Persistence | undefined;
  #listener: Listener | undefined;
  #controllers: Controllers | undefined;
  #stopping = new AbortController();
  #state: 'new' | 'starting' | 'ready' | 'stopping' | 'stopped' = 'new';
  #started: Promise<void> | undefined;
  #failingOver: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;
  #port: number;

  constructor(options: ApiServerOptions) {
    const { clock = systemClock, seed = 1, authorization = 'AlwaysAllow' } = options;
    this.#options = options;
    this.#clock = clock;
    this.#port = options.port ?? 0;
    const random = options.random ?? seededRandom(randomBytes(4).readUInt32LE());
    const store = createStore({
      clock,
      historyEvents: options.historyEvents ?? 50_000,
      ...(options.historyMs !== undefined && { historyMs: options.historyMs }),
      writeAhead: (record) => this.#persistence?.append(record),
    });
    this.#webhooks = createWebhookCaller({
      clock,
      resolveService: options.resolveService,
      transport: options.webhookTransport,
    });
    this.#offload = createOffload({ clock, jobTimeoutMs: maxJobMs });
    const offload = this.#offload;
    const hub = createWatchHub(store, { clock, offload });
    const webhooks = this.#webhooks;
    const longReader = createLongReader({ offload, webhooks, random });
    const registry = createRegistry({ definitions: builtInDefinitions(), webhookCaller: webhooks, longReader });
    const tokens = this.#createTokens(store);
    this.#authenticator = createAuthenticator({
      anonymous: options.anonymous ?? authorization === 'RBAC',
      serviceAccounts: tokens,
    });
    const pods = createPodScripts();
    this.pods = pods;
    this.#backend = {
      store,
      registry,
      offload,
      access: createAccessControl(authorization, store),
      identities: {
        authenticator: this.#authenticator,
        tokens,
        maxTokenSeconds: options.serviceAccounts?.maxTokenSeconds,
        podServiceAccounts: options.serviceAccounts?.podAdmission ?? false,
      },
      admission: createReviews({ store, registry, offload }, this.#webhooks),
      webhooks: this.#webhooks,
      pods,
      clock,
      random,
      newUid: () => randomUUID(),
      watch: this.#watchParts(store, hub),
    };
    this.#journal = createJournal({
      clock,
      ...(options.journalEntries !== undefined && { limit: options.journalEntries }),
    });
    journalCommits(this.#journal, store);
    this.#engine = createFaultEngine({ clock, journal: this.#journal, seed });
    const maxBodyBytes = options.maxBodyBytes ?? 3 * 1024 * 1024;
    this.#pipeline = this.#createPipeline();
    this.fetch = createFetch({ pipeline: this.#pipeline, maxBodyBytes, user: inProcessUser });
    this.answer = createDirectAnswer({ pipeline: this.#pipeline, maxBodyBytes, administrator: inProcessUser });
    this.faults = {
      add: (fault) => this.#engine.add(fault),
      clear: () => this.#engine.clear(),
      failover: (options = {}) => (this.#failingOver = this.#failover(failoverMs(options))),
    };
  }

  #createTokens(store: Store): ServiceAccountTokens {
    const { issuer = defaultIssuer, audiences, signingKey, publicKeys = [] } = this.#options.serviceAccounts ?? {};
    const issuers = typeof issuer === 'string' ? [issuer] : issuer;
    requireIssuers(issuers);
    // Keys passed as options are checked here, so that their caller gets the error.
    if (signingKey !== undefined) this.#tokenKeys = readTokenKeys({ signingKey, publicKeys });
    return createServiceAccountTokens({
      store,
      keys: () => this.#keysOfTokens(),
      issuers,
      audiences: audiences ?? issuers,
      now: () => this.#clock.now(),
    });
  }

  #watchParts(store: Store, hub: WatchHub): Backend['watch'] {
    const { bookmarkIntervalMs = 60_000, maxWatchBufferBytes = 16 * 1024 * 1024 } = this.#options;
    const stopping = (): AbortSignal => this.#stopping.signal;
    return {
      store,
      hub,
      clock: this.#clock,
      offload: this.#offload,
      bookmarkIntervalMs,
      maxBufferedBytes: maxWatchBufferBytes,
      get stopping() {
        return stopping();
      },
    };
  }

  #createPipeline(): Pipeline {
    const { logger = noopLogger, requestTimeoutMs = 60_000, serviceAccounts } = this.#options;
    return createPipeline({
      backend: this.#backend,
      journal: this.#journal,
      faults: this.#engine,
      clock: this.#clock,
      serverAddress: () => `${this.#host}:${this.#port}`,
      jwksUri: () => serviceAccounts?.jwksUri ?? `https://${this.#host}:${this.#port}/openid/v1/jwks`,
      isReady: () => this.#state === 'ready',
      requestTimeoutMs,
      onError: (error) => logger.error('request failed inside the server', { error }),
    });
  }

  get journal(): Journal {
    return this.#journal;
  }

  get revision(): number {
    return this.#backend.store.revision;
  }

  get watchers(): number {
    return this.#backend.watch.hub.size;
  }

  get url(): string {
    if (this.#port === 0) throw new Error('the server has no url yet: call start() first');
    return `https://${isIPv6(this.#host) ? `[${this.#host}]` : this.#host}:${this.#port}`;
  }

  get certificateAuthority(): string {
    return this.#known().authority.cert;
  }

  get token(): string {
    return this.#known().token;
  }

  get #host(): string {
    return this.#options.host ?? '127.0.0.1';
  }

  async start(): Promise<void> {
    if (this.#state === 'ready' || this.#state === 'starting') throw new Error('the server is already running');
    const before = this.#stopped;
    this.#stopped = undefined;
    this.#state = 'starting';
    this.#started = this.#begin(before);
    await this.#started;
  }

  async #begin(before: Promise<void> | undefined): Promise<void> {
    // Why a stop failed was its caller's.
    await before?.catch(() => undefined);
    this.#state = 'starting';
    this.#stopping = new AbortController();
    try {
      const isFresh = await this.#load();
      await this.#listen();
      bootKubernetesService(this.#backend, { host: this.#host, port: this.#port });
      if (isFresh) this.#backend.store.raiseFloor();
      this.#state = 'ready';
    } catch (error) {
      this.#state = 'stopped';
      this.#controllers?.stop();
      this.#persistence?.close();
      this.#persistence = undefined;
      throw error;
    }
  }

  stop(): Promise<void> {
    if (this.#state === 'starting') this.#stopped ??= this.#stopOnceStarted();
    if (this.#state === 'ready') this.#stopped ??= this.#shutDown();
    return this.#stopped ?? Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  kubeconfig(options: KubeconfigOptions = {}): string {
    const { auth = 'token', user, groups = [] } = options;
    const common = {
      server: this.url,
      certificateAuthority: this.certificateAuthority,
      user: user ?? administrator.name,
    };
    if (auth === 'token')
      return kubeconfigText({ ...common, token: user === undefined ? this.token : this.issueToken(user, groups) });
    const { cert, key } = this.issueClientCertificate(common.user, user === undefined ? administrator.groups : groups);
    return kubeconfigText({ ...common, clientCertificate: cert, clientKey: key });
  }

  writeKubeconfig(path: string, options: KubeconfigOptions = {}): void {
    writeFileSync(path, this.kubeconfig(options), { mode: 0o600 });
    chmodSync(path, 0o600);
  }

  issueClientCertificate(user: string, groups: readonly string[] = []): KeyAndCertificate {
    return this.#known().authority.issueClient(user, groups);
  }

  issueToken(user: string, groups: readonly string[] = []): string {
    const token = randomBytes(24).toString('base64url');
    this.#authenticator.addToken(token, { name: user, groups });
    return token;
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    return subscribeCommits(this.#backend.store, listener);
  }

  seed(objects: readonly DeepReadonly<UntypedObject>[]): Promise<readonly UntypedObject[]> {
    return seed(this.#backend, objects);
  }

  snapshot(): StoreSnapshot {
    return this.#backend.store.snapshot();
  }

  restore(snapshot: StoreSnapshot): void {
    const { store } = this.#backend;
    store.restore(snapshot);
    this.#backend.access.rebuild();
    this.#persistence?.reset(store.snapshot());
    this.#controllers?.resync();
    this.#endWatches();
  }

  compact(revision?: number): number {
    return this.#backend.store.compact(revision);
  }

  #keysOfTokens(): TokenKeys {
    const { publicKeys = [] } = this.#options.serviceAccounts ?? {};
    this.#tokenKeys ??= readTokenKeys({ signingKey: loadSigningKey(this.#options.dataDir), publicKeys });
    return this.#tokenKeys;
  }

  #known(): Identity {
    if (this.#identity === undefined) throw new Error('the server has no credentials yet: call start() first');
    return this.#identity;
  }

  /** Resolves with whether the store is a new one. */
  async #load(): Promise<boolean> {
    const { dataDir, fsync = false } = this.#options;
    // Read only if needed, because it is as large as all the rest of a small server's data.
    const bootRoles =
      this.#backend.access.mode === 'RBAC' ? (await import('./boot/bootstrap-roles.js')).bootRoles : undefined;
    const { store, registry } = this.#backend;
    const isFirst = this.#identity === undefined;
    if (dataDir !== undefined) this.#persistence = openPersistence({ directory: dataDir, sync: fsync });
    if (isFirst) {
      for (const { storageKey } of registry.list()) store.table(storageKey);
      this.#persistence?.load(store);
      this.#identity = loadIdentity({
        dataDir,
        now: this.#clock.now(),
        names: [this.#host, ...(this.#options.serverNames ?? [])],
      });
      this.#authenticator.addToken(this.#identity.token, administrator);
      for (const { token, user, groups = [] } of this.#options.tokens ?? [])
        this.#authenticator.addToken(token, { name: user, groups });
    }
    this.#backend.access.rebuild();
    this.#controllers = startControllers(this.#backend, {
      enabled: this.#options.controllers ?? true,
      delayMs: this.#options.controllerDelayMs ?? 0,
    });
    if (isFirst && bootRoles !== undefined) bootRoles(this.#backend);
    const isFresh = isFirst && this.#persistence?.hadData !== true;
    if (isFresh) {
      bootNamespaces(this.#backend);
      bootSystemObjects(this.#backend);
      this.#controllers.drain();
    }
    return isFresh;
  }

  async #listen(): Promise<void> {
    if (this.#options.listen === false) return;
    const { authority, server } = this.#known();
    const logger = this.#options.logger ?? noopLogger;
    this.#listener = await createListener({
      pipeline: this.#pipeline,
      host: this.#host,
      port: this.#port,
      server: this.#options.servingCertificate ?? server,
      clientAuthorities: [authority.cert, ...(this.#options.clientAuthorities ?? [])],
      maxBodyBytes: this.#options.maxBodyBytes ?? 3 * 1024 * 1024,
      onError: (error) => logger.error('connection failed inside the server', { error }),
    });
    this.#port = this.#listener.port;
  }

  async #shutDown(): Promise<void> {
    this.#state = 'stopping';
    this.#stopping.abort();
    this.#controllers?.stop();
    try {
      await this.#failingOver?.catch(() => undefined);
      await this.#listener?.close(this.#options.stopGraceMs ?? 5000);
      this.#listener = undefined;
      this.#webhooks.close();
      this.#offload.close();
      this.#persistence?.tidy(this.#backend.store);
    } finally {
      // Data that could not be tidied is read back all the same, and the directory is free.
      this.#persistence?.close();
      this.#persistence = undefined;
      this.#state = 'stopped';
    }
  }

  /** Waits for a start under way, because half of one cannot be undone. */
  async #stopOnceStarted(): Promise<void> {
    try {
      await this.#started;
    } catch {
      return; // It has failed, which its caller is told: nothing runs.
    }
    await this.#shutDown();
  }

  #endWatches(): void {
    const before = this.#stopping;
    this.#stopping = new AbortController();
    before.abort();
  }

  async #failover(downMs: number): Promise<void> {
    this.#journal.add({ type: 'fault', fault: 'failover', action: 'failover', request: 0 });
    await this.#listener?.destroy();
    this.#listener = undefined;
    // A stop that has come meanwhile has ended them.
    if (this.#state !== 'ready') return;
    this.#endWatches();
    if (downMs > 0) await sleep(downMs, { clock: this.#clock, signal: this.#stopping.signal, keepAlive: false });
    if (this.#state === 'ready') await this.#listen();
  }
}
