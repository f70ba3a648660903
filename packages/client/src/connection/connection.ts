import type { Duplex } from 'node:stream';

/** PEM as a string or bytes. */
export type Pem = string | Uint8Array;

/** An environment variable for an exec plugin. */
export interface ExecEnvironment {
  readonly name: string;
  readonly value: string;
}

/** An exec credential plugin, as kubeconfig declares it. */
export interface ExecPlugin {
  readonly command: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly ExecEnvironment[] | null;
  readonly apiVersion?: string;
  /** Shown when the command is not installed. */
  readonly installHint?: string;
  /** Whether the plugin receives the cluster's details. @default false */
  readonly provideClusterInfo?: boolean;
  /**
   * The cluster's configuration for plugins, which is `spec.cluster.config` of the input that they receive with
   * `provideClusterInfo`. A kubeconfig has it as the extension `client.authentication.k8s.io/exec` of the cluster.
   */
  readonly config?: unknown;
  /** `Always` is refused, because a controller has no terminal. @default 'IfAvailable' */
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
}

/** Whom to act as. The server must allow the real user to impersonate. */
export interface Impersonation {
  readonly userName: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** An OpenID Connect identity that renews itself at its issuer. */
export interface OidcRefresh {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly idToken?: string;
  readonly refreshToken?: string;
  /** The CA of the issuer. @default the system's */
  readonly ca?: Pem;
}

/** Sets the `Authorization` header by other means, which is how client-node's auth providers are plugged in. */
export interface AuthProvider {
  /** The value of the header, or undefined for none. Called before each request; it caches and refreshes itself. */
  authorization(): Promise<string | undefined>;
}

/**
 * The identity of the client. Of several, the first that is set counts, in the order tokenFile, token, username, exec,
 * oidc, provider. Blank values, and a certificate without its key, are refused, because requests would be anonymous.
 */
export interface UserConnection {
  readonly certificate?: Pem;
  readonly certificateFile?: string;
  readonly key?: Pem;
  readonly keyFile?: string;
  readonly token?: string;
  /** Re-read while in use, so that a rotated token is picked up. Until it can be read, `token` is used if it is set. */
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly exec?: ExecPlugin;
  readonly oidc?: OidcRefresh;
  readonly provider?: AuthProvider;
  readonly impersonate?: Impersonation;
}

/** User name and password for a proxy. */
export interface ProxyUser {
  readonly name: string;
  readonly password: string;
}

/** A request to carry, the part of undici's `Dispatcher.DispatchOptions` that a transport sets. */
export interface DispatchedRequest {
  /** `https://host:port`. */
  readonly origin: string;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Uint8Array | null;
  /** 0: the transport keeps time itself. */
  readonly headersTimeout: number;
  readonly bodyTimeout: number;
  /**
   * The protocol to switch the connection to, such as `websocket`. A dispatcher that cannot switch answers as without
   * it.
   */
  readonly upgrade?: string;
}

/**
 * Controls for the handler of a request, the part of undici's `Dispatcher.DispatchController` that a transport uses.
 */
export interface DispatchControl {
  /** Ends the request; nothing more is called back. */
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** Who is called back with the answer: `onRequestStart`, `onResponseStart`, data, then the end or an error. */
export interface DispatchCallbacks {
  /** The request goes onto a connection. */
  onRequestStart(control: DispatchControl): void;
  /** `headers` by their lower-case names. */
  onResponseStart(
    control: DispatchControl,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void;
  onResponseData(control: DispatchControl, chunk: Buffer): void;
  onResponseEnd(control: DispatchControl): void;
  /** In place of an answer, if the server switches protocols. `socket` is a Duplex of Node. */
  onRequestUpgrade?(
    control: DispatchControl,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    socket: unknown,
  ): void;
  /** At any time, also before `onRequestStart`. Its `code` is that of Node or undici, such as `ECONNREFUSED`. */
  onResponseError(control: DispatchControl, error: Error): void;
}

/** Carries requests in place of sockets; undici's contract, so that its dispatchers fit. */
export interface RequestDispatcher {
  dispatch(request: DispatchedRequest, callbacks: DispatchCallbacks): boolean;
  /** Takes nothing new; resolves when what runs has ended. */
  close(): Promise<void>;
  /** Ends every connection at once, so requests on them fail. */
  destroy(): Promise<void>;
}

/** A request that was sent, see {@link Connection.observe}. */
export interface ObservedRequest {
  readonly method: string;
  /** Path with query, as it went onto the wire. */
  readonly path: string;
  /** Status of the answer; undefined if there was no answer. */
  readonly status: number | undefined;
}

/** The destination of a connection to be opened. */
export interface DialAddress {
  readonly host: string;
  readonly port: number;
  readonly signal: AbortSignal;
}

/** The server's address, how to trust it, and the identity of the client, as one flattened context of a kubeconfig. */
export interface Connection {
  /** `https://host:port`, with an optional path prefix; a user name and password in it count if `user` sets nothing. */
  readonly server: string;
  readonly ca?: Pem;
  /** Re-read while in use, so that a rotated CA is picked up. */
  readonly caFile?: string;
  /** Name that the server's certificate must have, and SNI. @default the host of `server` */
  readonly tlsServerName?: string;
  /** Accepts any certificate; refused together with `ca` or `caFile`. @default false */
  readonly insecureSkipTlsVerify?: boolean;
  /** `http:`, `https:`, `socks5:` URL. @default by the environment: HTTPS_PROXY, HTTP_PROXY, NO_PROXY */
  readonly proxyUrl?: string;
  /** User name and password for the proxy, if `proxyUrl` does not contain them. */
  readonly proxyUser?: ProxyUser;
  /** Never requests compressed answers. @default false */
  readonly disableCompression?: boolean;
  /** The default namespace of the context. */
  readonly namespace?: string;
  readonly user?: UserConnection;
  /**
   * Opens the streams that connections run on, e.g. through a tunnel or to a Unix socket; TLS is spoken on them as on sockets of
   * this process. The signal is aborted when the connection is not made in time. There is no proxy then. Mirrors `Dial` of
   * client-go's `rest.Config`.
   *
   * @default a TCP connection, or one through the proxy
   */
  readonly dial?: (address: DialAddress) => Duplex | Promise<Duplex>;
  /**
   * Makes what carries the requests of one transport, e.g. to a server in the same process or over a simulated network.
   * `destroy` is called when the transport is disposed. CA, certificates, proxy and connection limits do not apply.
   *
   * @default pools of TLS connections
   */
  readonly newDispatcher?: () => RequestDispatcher;
  /**
   * Called for each request once its answer begins, or it has failed, for every attempt of every client that is made
   * with this connection, but not for a thread that renews a lease. Errors that it throws are logged.
   *
   * @default none
   */
  readonly observe?: (request: ObservedRequest) => void;
}
