import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CorruptStoreError } from '../storage/errors.js';
import { createCertificateAuthority } from '@kctl/http-server/internal/certificates';
import type { CertificateAuthority, PemPair as KeyAndCertificate } from '@kctl/http-server/internal/certificates';

/** Keys and the administrator's token of a server. */
export interface Identity {
  readonly authority: CertificateAuthority;
  readonly server: KeyAndCertificate;
  readonly token: string;
}

/** Options of {@link loadIdentity}. */
export interface IdentityOptions {
  /** Directory in which it is kept, so that kubeconfigs stay valid over restarts. */
  readonly dataDir: string | undefined;
  readonly now: number;
  /** Names and addresses of the server, besides those of this machine. */
  readonly names: readonly string[];
}

const localNames = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', '127.0.0.1', '::1'];

function readStored(path: string): { authority: KeyAndCertificate; token: string } | undefined {
  if (!existsSync(path)) return undefined;
  const stored = parseStored(path, readFileSync(path, 'utf8'));
  if (typeof stored === 'object' && stored !== null && 'cert' in stored && 'key' in stored && 'token' in stored) {
    const { cert, key, token } = stored;
    if (typeof cert === 'string' && typeof key === 'string' && typeof token === 'string')
      return { authority: { cert, key }, token };
  }
  throw new CorruptStoreError(path, 'it lacks cert, key or token');
}

function parseStored(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without its cause, because V8 quotes the source that it failed on, which is a key here.
    throw new CorruptStoreError(path, 'it is not JSON');
  }
}

/** The identity of a data directory, or a fresh one. @throws CorruptStoreError */
export function loadIdentity({ dataDir, now, names }: IdentityOptions): Identity {
  const path = dataDir === undefined ? undefined : join(dataDir, 'identity.json');
  const stored = path === undefined ? undefined : readStored(path);
  const authority = createCertificateAuthority({
    name: 'kctl-apiserver-ca',
    now,
    ...(stored !== undefined && { existing: stored.authority }),
  });
  const token = stored?.token ?? randomBytes(24).toString('base64url');
  if (path !== undefined && stored === undefined) {
    const { cert, key } = authority;
    writeFileSync(path, `${JSON.stringify({ cert, key, token }, undefined, 2)}\n`, { mode: 0o600 });
  }
  const unspecified = new Set(['0.0.0.0', '::']);
  const all = [...new Set([...localNames, ...names])].filter((name) => !unspecified.has(name) && name !== '');
  return { authority, server: authority.issueServer('kctl-apiserver', all), token };
}
