/** PEM text or bytes. */
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
  /** `Always` is refused: a controller has no terminal. @default 'IfAvailable' */
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

/** Sets the `Authorization` header by other means: how client-node's own auth providers are plugged in. */
export interface AuthProvider {
  /** The value of the header, or undefined for none. Called before each request; it caches and refreshes itself. */
  authorization(): Promise<string | undefined>;
}

/** Who we are. Of several, the first that is set counts: tokenFile, token, username, exec, oidc, provider. */
export interface UserConnection {
  readonly certificate?: Pem;
  readonly certificateFile?: string;
  readonly key?: Pem;
  readonly keyFile?: string;
  readonly token?: string;
  /** Re-read while in use, so that a rotated token is picked up. */
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

/** Where the server is, how to trust it, and who we are: one context of a kubeconfig, flattened. */
export interface Connection {
  /** `https://host:port`, with an optional path prefix; a user name and password in it count where `user` says nothing. */
  readonly server: string;
  readonly ca?: Pem;
  /** Re-read while in use, so that a rotated CA is picked up. */
  readonly caFile?: string;
  /** Name that the server's certificate must have, and SNI. @default the host of `server` */
  readonly tlsServerName?: string;
  /** Accepts any certificate. @default false */
  readonly insecureSkipTlsVerify?: boolean;
  /** `http:`, `https:`, `socks5:` URL. @default by the environment: HTTPS_PROXY, HTTP_PROXY, NO_PROXY */
  readonly proxyUrl?: string;
  /** User name and password for the proxy, where `proxyUrl` does not contain them. */
  readonly proxyUser?: ProxyUser;
  /** Never asks for compressed answers. @default false */
  readonly disableCompression?: boolean;
  /** The default namespace of the context. */
  readonly namespace?: string;
  readonly user?: UserConnection;
}
