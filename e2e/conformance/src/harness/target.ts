/** A server under test. */
import type { Capability } from './spec.js';
import type { Credentials } from './http.js';

export interface Target {
  readonly name: 'embedded' | 'real' | 'existing';
  readonly url: string;
  readonly caPem: string | undefined;
  readonly credentials: Credentials;
  /** Why a capability is missing; those not named are there. */
  readonly lacks: ReadonlyMap<Capability, string>;
  /** A client certificate of this user, signed by the CA that the server trusts. */
  issueClientCertificate?(subject: { commonName: string; organizations?: string[] }): Promise<Credentials>;
  /** A bearer token of a user that is not the admin. */
  readonly otherToken?: { readonly token: string; readonly user: string };
  /** Forgets the history up to now (etcd's compaction). */
  compact?(): Promise<void>;
  stop(): Promise<void>;
}
