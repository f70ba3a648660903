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
  /** Audit annotations of admission of the request with this `Audit-Id`. Only where auditing was asked for. */
  auditOf?(auditId: string): Promise<Readonly<Record<string, string>>>;
  /** Forgets the history up to now (etcd's compaction). */
  compact?(): Promise<void>;
  stop(): Promise<void>;
}

/** How a target is started. */
export interface TargetOptions {
  /** Whether what is deleted or owned is cleaned up. @default true */
  readonly controllers?: boolean;
  /** Whether {@link Target.auditOf} is needed. @default false */
  readonly audit?: boolean;
  /** A minor release of the real server, as `1.34`. @default the one that the suite was written against */
  readonly release?: string;
}
