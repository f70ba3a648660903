import { messageOf } from '@kctl/telemetry/internal';
import { optionWithMethods } from '@kctl/options';
import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import {
  certificateBundleProblem,
  type Connection,
  type Pem,
  type RequestDispatcher,
} from '@kctl/client/internal/connection';
import { CredentialsError } from '../errors.js';
import { createFileSource } from '../credentials/file-source.js';
import type { FileSource } from '../credentials/file-source.js';
import type { Credential } from '../credentials/credential-source.js';
import { loadPools } from './pools.js';
import type { OpenPools, PoolPair, PoolSettings, TlsMaterial } from './pools.js';

/** How old CA and certificate files may be before they are read again, in ms. client-go: 5 min. */
const filesMaxAgeMs = 60_000;

/** Options of {@link createConnectionPools}. */
export interface ConnectionPoolsOptions {
  readonly connection: Connection;
  readonly settings: PoolSettings;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The pools for the current TLS files and certificates. When those change, new requests go through new pools, while the
 * old ones close as soon as their requests are done, so rotation loses no request.
 */
export interface ConnectionPools {
  get(credential: Credential): PoolPair | Promise<PoolPair>;
  /**
   * Reads the files now, for use after a failed handshake. Reports whether the pools differ from those that were used,
   * because of the present content of the files, or because another request has loaded it meanwhile.
   */
  reload(credential: Credential, used: PoolPair | undefined): Promise<boolean>;
  /** Closes every connection at once. */
  destroy(): Promise<void>;
}

export function createConnectionPools(options: ConnectionPoolsOptions): ConnectionPools {
  const { connection, settings, clock, logger } = options;
  if (connection.newDispatcher !== undefined) return givenDispatcher(connection.newDispatcher);
  const { user = {} } = connection;
  const source = (path: string | undefined): FileSource | undefined =>
    path === undefined
      ? undefined
      : createFileSource(path, {
          clock,
          maxAgeMs: filesMaxAgeMs,
          onStale: (error) => logger.warn('cannot read a TLS file again; keeping the old content', { path, error }),
        });
  const files = { ca: source(connection.caFile), cert: source(user.certificateFile), key: source(user.keyFile) };
  const given = { ca: bytes(connection.ca), cert: bytes(user.certificate), key: bytes(user.key) };
  const closing = new Set<PoolPair>();
  let current: { readonly material: TlsMaterial; readonly pools: PoolPair } | undefined;
  let open: OpenPools | undefined;

  const poolsFor = (material: TlsMaterial): PoolPair | Promise<PoolPair> => {
    if (open !== undefined) return openFor(material, open);
    return loadPools(settings).then((loaded) => openFor(material, (open ??= loaded)));
  };
  const openFor = (material: TlsMaterial, openPools: OpenPools): PoolPair => {
    if (current !== undefined && isSameMaterial(current.material, material)) return current.pools;
    requireAuthority(material, connection.caFile);
    const old = current?.pools;
    current = { material, pools: openPools(material) };
    if (old !== undefined) retire(old);
    return current.pools;
  };
  const retire = (old: PoolPair): void => {
    logger.debug('TLS material changed: new connections for new requests');
    closing.add(old);
    void Promise.allSettled(dispatchersOf(old).map((each) => each.close())).finally(() => closing.delete(old));
  };
  const fitting = createFitting(logger);
  const issued = (credential: Credential): Pick<TlsMaterial, 'cert' | 'key'> =>
    credential.certificate === undefined ? {} : { cert: bytes(credential.certificate), key: bytes(credential.key) };
  const assemble = async (read: (file: FileSource) => Buffer | Promise<Buffer>): Promise<TlsMaterial> => {
    const load = async (what: string, file: FileSource | undefined): Promise<Buffer | undefined> => {
      if (file === undefined) return undefined;
      try {
        return await read(file);
      } catch (error) {
        const reason = messageOf(error);
        throw new CredentialsError(`cannot read the ${what}: ${reason}`, { cause: error });
      }
    };
    const [ca, cert, key] = await Promise.all([
      load('certificate authority', files.ca),
      load('client certificate', files.cert),
      load('client key', files.key),
    ]);
    return fitting({ ca: ca ?? given.ca, cert: cert ?? given.cert, key: key ?? given.key });
  };
  const hasFiles = files.ca !== undefined || files.cert !== undefined || files.key !== undefined;
  return {
    get: (credential) => {
      if (!hasFiles) return poolsFor({ ...given, ...issued(credential) });
      return assemble((file) => file.read()).then((material) => poolsFor({ ...material, ...issued(credential) }));
    },
    reload: async (credential, used) => {
      if (!hasFiles) return false;
      const pools = await poolsFor({ ...(await assemble((file) => file.reread())), ...issued(credential) });
      return pools !== used;
    },
    destroy: async () => {
      const all = current === undefined ? [...closing] : [current.pools, ...closing];
      await Promise.all(all.flatMap(dispatchersOf).map((each) => each.destroy()));
    },
  };
}

/**
 * Files of a rotation are written one after the other. While they do not fit together, the previous ones stay in use.
 *
 * @returns a function from the material that was read to the material to use
 */
function createFitting(logger: Logger): (read: TlsMaterial) => TlsMaterial {
  /** The last material that fits together, and the last that did not. */
  let fits: TlsMaterial | undefined;
  let refused: TlsMaterial | undefined;
  return (read) => {
    if (fits !== undefined && isSameMaterial(fits, read)) return fits;
    if (refused !== undefined && isSameMaterial(refused, read)) return fits ?? read;
    const problem = problemOf(read);
    if (problem === undefined) return (fits = read);
    refused = read;
    if (fits !== undefined) logger.warn('the TLS files do not fit together; keeping the old content', { problem });
    return fits ?? read;
  };
}

/** Requests and watches alike go through what the connection makes; there is no TLS material to follow. */
function givenDispatcher(newDispatcher: () => RequestDispatcher): ConnectionPools {
  let pools: PoolPair | undefined;
  let isDestroyed = false;
  return {
    get: () => {
      if (pools === undefined) {
        const dispatcher = requireDispatcher(newDispatcher());
        pools = { requests: dispatcher, watches: dispatcher, upgrades: dispatcher };
      }
      return pools;
    },
    reload: () => Promise.resolve(false),
    destroy: async () => {
      if (isDestroyed) return;
      isDestroyed = true;
      await pools?.requests.destroy();
    },
  };
}

const dispatcherProblem = optionWithMethods(['dispatch'], 'a dispatcher, such as an Agent of undici');

/** @throws TypeError for what carries no requests */
function requireDispatcher(dispatcher: RequestDispatcher): RequestDispatcher {
  const problem = dispatcherProblem('what connection.newDispatcher returned', dispatcher);
  if (problem !== undefined) throw new TypeError(problem);
  return dispatcher;
}

/** Each dispatcher of a pair once. */
function dispatchersOf({ requests, watches, upgrades }: PoolPair): readonly RequestDispatcher[] {
  return [...new Set([requests, watches, upgrades])];
}

function isSameMaterial(a: TlsMaterial, b: TlsMaterial): boolean {
  return isSame(a.ca, b.ca) && isSame(a.cert, b.cert) && isSame(a.key, b.key);
}

function isSame(a: string | Buffer | undefined, b: string | Buffer | undefined): boolean {
  if (a === b) return true;
  return a !== undefined && b !== undefined && Buffer.from(a).equals(Buffer.from(b));
}

function bytes(pem: Pem | undefined): string | Buffer | undefined {
  return pem === undefined || typeof pem === 'string' ? pem : Buffer.from(pem);
}

/** Node would trust a part of them and report nothing. @throws CredentialsError */
function requireAuthority({ ca }: TlsMaterial, file = ''): void {
  const problem = ca?.includes('-----') === true ? certificateBundleProblem(ca) : undefined;
  if (problem !== undefined)
    throw new CredentialsError(`the certificate authority ${file === '' ? '' : `${file} `}${problem}`);
}

/**
 * The reason why a connection cannot be made with these; undefined if it can. Node treats a truncated authority as
 * absent.
 */
function problemOf({ ca, cert, key }: TlsMaterial): string | undefined {
  if (ca !== undefined && !ca.includes('-----END ')) return 'the certificate authority has no whole certificate';
  const broken = ca === undefined ? undefined : certificateBundleProblem(ca);
  if (broken !== undefined) return `the certificate authority ${broken}`;
  try {
    process.getBuiltinModule('node:tls').createSecureContext({
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    });
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
