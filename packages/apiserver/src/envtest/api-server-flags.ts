import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@kctl/wait';
import type { ApiServerOptions, StaticToken } from '../api-server-options.js';
import { createCertificateAuthority } from '@kctl/http-server/internal/certificates';
import type { PemPair as KeyAndCertificate } from '@kctl/http-server/internal/certificates';
import type { Flags } from './flags.js';

/** Flags of kube-apiserver that have an effect here. */
export const apiServerFlags: Readonly<Record<string, string>> = {
  'anonymous-auth': 'let requests without credentials in (default true, false with AlwaysAllow)',
  'api-audiences': 'audiences of service account tokens (default: the issuers)',
  'authorization-mode': 'RBAC or AlwaysAllow; Node and Webhook are left out of a list (default AlwaysAllow)',
  'bind-address': 'address to listen on (default 127.0.0.1)',
  'cert-dir': 'directory of apiserver.crt and apiserver.key, written where they are missing',
  'client-ca-file': 'authorities that vouch for client certificates',
  'disable-admission-plugins': 'ServiceAccount can be disabled: pods then keep the service account that they name',
  help: 'print this and exit',
  'secure-port': 'port to listen on; 0 takes a free one (default 6443)',
  'service-account-issuer': 'issuer of service account tokens; of several the first issues',
  'service-account-key-file': 'keys or certificates that verify service account tokens',
  'service-account-max-token-expiration': 'longest life of a token, e.g. 24h',
  'service-account-signing-key-file': 'private key that signs service account tokens',
  'tls-cert-file': 'certificate to serve with',
  'tls-private-key-file': 'its key',
  'token-auth-file': 'CSV file of static tokens: token,user,uid,"group1,group2"',
  version: 'print the version and exit',
};

/** A flag whose value cannot be used; the message names it. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
}

function readText(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new FlagError(`--${flag} ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function readPort(flags: Flags): number {
  const given = flags.last('secure-port') ?? '6443';
  const port = Number(given);
  if (!/^\d+$/.test(given) || port > 65_535)
    throw new FlagError(`--secure-port ${given}: expected a whole number from 0 to 65535`);
  return port;
}

/** The certificate of the flags, or of the directory, which gets one if it has none. */
function servingCertificate(flags: Flags, host: string): KeyAndCertificate | undefined {
  const certFile = flags.last('tls-cert-file');
  const keyFile = flags.last('tls-private-key-file');
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new FlagError('--tls-cert-file and --tls-private-key-file: give both or neither');
  if (certFile !== undefined && keyFile !== undefined)
    return { cert: readText('tls-cert-file', certFile), key: readText('tls-private-key-file', keyFile) };
  const directory = flags.last('cert-dir');
  if (directory === undefined) return undefined;
  const files = { cert: join(directory, 'apiserver.crt'), key: join(directory, 'apiserver.key') };
  if (existsSync(files.cert) && existsSync(files.key))
    return { cert: readText('cert-dir', files.cert), key: readText('cert-dir', files.key) };
  const made = createCertificateAuthority({ name: 'kctl-apiserver-ca', now: systemClock.now() }).issueServer(
    'kctl-apiserver',
    ['localhost', '127.0.0.1', host],
  );
  mkdirSync(directory, { recursive: true });
  writeFileSync(files.cert, made.cert);
  writeFileSync(files.key, made.key, { mode: 0o600 });
  return made;
}

/** One line of a token file, with token, user, uid, and groups in quotes. */
function parseTokenLine(line: string): StaticToken | undefined {
  const [token = '', user = '', , ...groups] = line.split(',').map((cell) => cell.trim().replaceAll('"', ''));
  return token === '' || user === '' ? undefined : { token, user, groups: groups.filter((group) => group !== '') };
}

function readTokens(file: string): StaticToken[] {
  return readText('token-auth-file', file)
    .split('\n')
    .map(parseTokenLine)
    .filter((token) => token !== undefined);
}

const durationUnits: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1 };

function readSeconds(flag: string, given: string): number {
  const parts = [...given.matchAll(/(\d+)(h|m|s)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== given)
    throw new FlagError(`--${flag} ${given}: expected a duration such as 24h or 1h30m`);
  return parts.reduce((sum, [, count, unit = 's']) => sum + Number(count) * (durationUnits[unit] ?? 1), 0);
}

/** The server that the flags of kube-apiserver describe. @throws FlagError */
export function optionsOfFlags(flags: Flags): ApiServerOptions {
  const host = flags.last('bind-address') ?? '127.0.0.1';
  const isRbac = flags.list('authorization-mode').includes('RBAC');
  const certificate = servingCertificate(flags, host);
  const clientAuthority = flags.last('client-ca-file');
  const tokenFile = flags.last('token-auth-file');
  const anonymous = flags.last('anonymous-auth');
  const issuers = flags.all('service-account-issuer');
  const audiences = flags.list('api-audiences');
  const signingKey = flags.last('service-account-signing-key-file');
  const longest = flags.last('service-account-max-token-expiration');
  return {
    host,
    port: readPort(flags),
    controllers: false,
    journalEntries: 0,
    stopGraceMs: 1000,
    authorization: isRbac ? 'RBAC' : 'AlwaysAllow',
    ...(certificate !== undefined && { servingCertificate: certificate }),
    ...(clientAuthority !== undefined && { clientAuthorities: [readText('client-ca-file', clientAuthority)] }),
    ...(tokenFile !== undefined && { tokens: readTokens(tokenFile) }),
    ...(anonymous !== undefined && { anonymous: anonymous === 'true' }),
    serviceAccounts: {
      ...(issuers.length > 0 && { issuer: issuers }),
      ...(audiences.length > 0 && { audiences }),
      ...(signingKey !== undefined && { signingKey: readText('service-account-signing-key-file', signingKey) }),
      ...(longest !== undefined && {
        maxTokenSeconds: readSeconds('service-account-max-token-expiration', longest),
      }),
      podAdmission: !flags.list('disable-admission-plugins').includes('ServiceAccount'),
      publicKeys: flags.all('service-account-key-file').map((file) => readText('service-account-key-file', file)),
    },
  };
}
