import { once } from 'node:events';
import { isIP } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { Connection } from '@kctl/client/internal/connection';
import { shownValue } from '@kctl/options';
import { orAborted, systemClock, timeoutSignal } from '@kctl/wait';

/** Settings for TLS on a stream. */
interface TlsSettings {
  readonly serverName?: string | undefined;
  readonly rejectUnauthorized: boolean;
  readonly http2: boolean;
  readonly connectTimeoutMs: number;
}

/** Certificates, as bytes. */
interface Certificates {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
}

/** The destination that undici requests. */
interface Wanted {
  readonly hostname: string;
  /** '' for that of the protocol. */
  readonly port: string;
  readonly protocol: string;
}

type Connected = (error: Error | null, socket: Duplex | null) => void;

/** Makes connections over the streams of `connection.dial`: with TLS on them, as on sockets. */
export function dialConnector(
  dial: NonNullable<Connection['dial']>,
  settings: TlsSettings,
  tls: Certificates,
): (wanted: Wanted, connected: Connected) => void {
  const open = async ({ hostname, port, protocol }: Wanted): Promise<Duplex> => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const isSecure = protocol === 'https:';
    using deadline = timeoutSignal(systemClock, settings.connectTimeoutMs || Infinity);
    const { signal } = deadline;
    const dialed = Promise.resolve(dial({ host, port: Number(port) || (isSecure ? 443 : 80), signal }));
    // A stream that arrives after the deadline has no owner.
    const stream = await orAborted(dialed, signal).catch((error: unknown) => {
      void dialed.then((late) => late.destroy()).catch(() => undefined);
      throw error;
    });
    if (!(stream instanceof Duplex))
      throw new TypeError(
        'connection.dial returned a value that is not a stream: expected a Socket, or another Duplex',
      );
    if (!isSecure) return stream;
    const { ca, cert, key } = tls;
    const secured = connectTls({
      socket: stream,
      servername: settings.serverName ?? (isIP(host) === 0 ? host : ''),
      rejectUnauthorized: settings.rejectUnauthorized,
      ALPNProtocols: settings.http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      // The address that a certificate must be for, if there is no name.
      host,
    });
    try {
      await once(secured, 'secureConnect', { signal });
      return secured;
    } catch (error) {
      secured.destroy();
      throw signal.aborted ? signal.reason : error;
    }
  };
  return (wanted, connected) => {
    open(wanted).then(
      (socket) => connected(null, socket),
      (error: unknown) =>
        connected(
          error instanceof Error
            ? error
            : new Error(`connection.dial failed with ${shownValue(error)}`, { cause: error }),
          null,
        ),
    );
  };
}
