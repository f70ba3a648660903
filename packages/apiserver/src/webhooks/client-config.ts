import { posix } from 'node:path';
import { at, isObject, numberOf, stringOf } from '@kctl/crd/internal/engine';

/** A Service that a client configuration names. */
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  /** Port of the Service. */
  readonly port: number;
}

/** Address of the webhook behind a Service. */
export interface ServiceAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Resolves Services of client configurations to addresses, as a function, or a table by `namespace/name:port` or
 * `namespace/name`. There is no cluster network behind this server, so a Service that is not named here cannot be
 * called.
 */
export type ServiceResolver =
  | ((service: ServiceReference) => ServiceAddress | undefined | Promise<ServiceAddress | undefined>)
  | Readonly<Record<string, ServiceAddress>>;

/** `clientConfig` of a webhook, of admission or of conversion. */
export interface WebhookClientConfig {
  /** `https://host[:port]/path`, without a trailing slash and without a query. */
  readonly url: string;
  /** The Service that the host of {@link url} stands for. */
  readonly service: ServiceReference | undefined;
  /** Certificates to trust, PEM. @default those of the platform */
  readonly certificateAuthority: string | undefined;
}

/** The path as Go's REST client sends it, clean and without a trailing slash. */
function cleanPath(path: string): string {
  const clean = posix.join('/', path);
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean;
}

function decodeBundle(bundle: unknown): string | undefined {
  const text = stringOf(bundle);
  return text === '' ? undefined : Buffer.from(text, 'base64').toString('utf8');
}

/** Reads a `clientConfig` that has been validated; undefined if it has neither a URL nor a Service. */
export function readClientConfig(value: unknown): WebhookClientConfig | undefined {
  const certificateAuthority = decodeBundle(at(value, 'caBundle'));
  const service = at(value, 'service');
  if (isObject(service)) {
    const namespace = stringOf(service['namespace']);
    const name = stringOf(service['name']);
    const port = numberOf(service['port']) ?? 443;
    const url = `https://${name}.${namespace}.svc:${port}${cleanPath(stringOf(service['path']))}`;
    return { url, service: { namespace, name, port }, certificateAuthority };
  }
  const text = stringOf(at(value, 'url'));
  const [, origin] = /^(https:\/\/[^/?#]+)/.exec(text) ?? [];
  if (origin === undefined || !URL.canParse(text)) return undefined;
  // The origin as it is written, because errors name a port even if it is the default.
  return { url: `${origin}${cleanPath(new URL(text).pathname)}`, service: undefined, certificateAuthority };
}

/** The address of a Service. @throws Error if it has no address */
export async function resolveService(
  resolver: ServiceResolver | undefined,
  service: ServiceReference,
): Promise<ServiceAddress> {
  const { namespace, name, port } = service;
  const address =
    typeof resolver === 'function'
      ? await resolver(service)
      : (resolver?.[`${namespace}/${name}:${port}`] ?? resolver?.[`${namespace}/${name}`]);
  if (address !== undefined) return address;
  throw new Error(
    `service ${JSON.stringify(name)} not found: there is no cluster network behind the embedded API server; name the address of ${namespace}/${name}:${port} in its resolveService option`,
  );
}
