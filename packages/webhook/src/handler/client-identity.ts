import { TLSSocket } from 'node:tls';
import type { HttpRequest } from '@kctl/http-server';

/** Who a client is, by a certificate that the client CA vouches for. */
export interface ClientIdentity {
  /** The subject's common name, as `kube-apiserver`. */
  readonly commonName: string | undefined;
  /** The subject's organizations. */
  readonly organizations: readonly string[];
  /** DNS names among the alternative names. */
  readonly dnsNames: readonly string[];
  /** URIs among the alternative names, as a SPIFFE id. */
  readonly uris: readonly string[];
  /** SHA-256 of the certificate, in hexadecimal with colons. */
  readonly fingerprint256: string;
}

/**
 * The clients that may call, as common names, DNS names or URIs, of which the certificate must have one, or as a
 * function that decides.
 */
export type AllowedClients = readonly string[] | ((client: ClientIdentity) => boolean);

/** The sender of a request; undefined if its certificate is missing or was not verified. */
export function clientIdentityOf(request: HttpRequest): ClientIdentity | undefined {
  const socket = 'stream' in request ? request.stream.session?.socket : request.socket;
  // The socket of an HTTP/2 session is a proxy, which `instanceof` does not see through for every method.
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const subject = certificate.subject.split('\n');
  const valuesOf = (attribute: string): string[] =>
    subject.filter((line) => line.startsWith(`${attribute}=`)).map((line) => line.slice(attribute.length + 1));
  const names = alternativeNames(certificate.subjectAltName ?? '');
  return {
    commonName: valuesOf('CN')[0],
    organizations: valuesOf('O'),
    dnsNames: names.filter(({ type }) => type === 'DNS').map(({ value }) => value),
    uris: names.filter(({ type }) => type === 'URI').map(({ value }) => value),
    fingerprint256: certificate.fingerprint256,
  };
}

/** Whether a client may call. A function that throws refuses. */
export function isAllowedClient(allowed: AllowedClients, client: ClientIdentity | undefined): boolean {
  if (client === undefined) return false;
  if (typeof allowed === 'function') {
    try {
      const verdict: unknown = allowed(client);
      return verdict === true; // a promise is no yes
    } catch {
      return false;
    }
  }
  const { commonName, dnsNames, uris } = client;
  return [commonName, ...dnsNames, ...uris].some((name) => name !== undefined && allowed.includes(name));
}

/** `DNS:a, URI:"b, c"`: Node quotes, in JSON, what holds a character that has a meaning here. */
function alternativeNames(text: string): { readonly type: string; readonly value: string }[] {
  return [...text.matchAll(/(?:^|, )([^:]+):("(?:[^"\\]|\\.)*"|[^,]*)/g)].map(([, type = '', value = '']) => ({
    type,
    value: value.startsWith('"') ? String(JSON.parse(value)) : value,
  }));
}
