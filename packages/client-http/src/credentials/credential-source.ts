import type { Pem } from '@kctl/client/internal/connection';

/** The credentials of one request. */
export interface Credential {
  /** Value of the `Authorization` header. */
  readonly authorization?: string;
  /** A client certificate that the credential source itself supplies, with its key. */
  readonly certificate?: Pem;
  readonly key?: Pem;
}

/** Supplies credentials and renews them. */
export interface CredentialSource {
  /** Called before every request; answers without a promise while the credential is fresh. @throws CredentialsError */
  get(): Credential | Promise<Credential>;
  /**
   * Called when the server answered 401 to `used`: looks for a newer credential, once for all requests that wait.
   * Whether there is one, so that the request is worth repeating.
   */
  refresh(used: Credential): Promise<boolean>;
  /** Ends what is under way, such as a plugin. */
  close?(): void;
}

/** A credential that never changes. */
export function staticCredential(credential: Credential): CredentialSource {
  return { get: () => credential, refresh: () => Promise.resolve(false) };
}
