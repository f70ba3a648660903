import { BlockList, isIP } from 'node:net';
import { withoutUserInfo } from '@kctl/client/internal/connection';

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the proxy set by the environment, by Go's rules (`http.ProxyFromEnvironment`), which is HTTPS_PROXY or
 * HTTP_PROXY by the scheme, unless NO_PROXY covers the host. Never used for localhost and loopback addresses.
 */
export function proxyFromEnvironment(server: string, environment: Environment): string | undefined {
  const url = new URL(server);
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = firstOf(environment, name, name.toLowerCase());
  const host = hostOf(url);
  if (proxy === '' || isLoopback(host)) return undefined;
  const exclusions = firstOf(environment, 'NO_PROXY', 'no_proxy').split(',');
  if (exclusions.some((exclusion) => covers(exclusion.trim().toLowerCase(), host, portOf(url)))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

/** A proxy's URL as the connections take it. @throws TypeError without its password */
export function requireProxyUrl(proxyUrl: string | undefined): string | undefined {
  if (proxyUrl === undefined) return undefined;
  const url = URL.canParse(proxyUrl) ? new URL(proxyUrl) : undefined;
  if (url === undefined || !['http:', 'https:', 'socks5:', 'socks:'].includes(url.protocol))
    throw new TypeError(
      `proxy URL ${JSON.stringify(withoutUserInfo(proxyUrl))} is not valid: expected http://host:port, https://host:port or socks5://host:port`,
    );
  if (!isDecodable(url.username) || !isDecodable(url.password))
    throw new TypeError(
      `proxy URL ${JSON.stringify(withoutUserInfo(proxyUrl))}: its user name or password is not valid: expected "%" only before two hexadecimal digits (a literal "%" is "%25")`,
    );
  return proxyUrl;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function firstOf(environment: Environment, ...names: string[]): string {
  return names.map((name) => environment[name] ?? '').find((value) => value !== '') ?? '';
}

/** Without the brackets of an IPv6 address. */
function hostOf({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1');
}

function portOf(url: URL): string {
  if (url.port !== '') return url.port;
  return url.protocol === 'https:' ? '443' : '80';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || isInNetwork(host, '127.0.0.0', 8) || isInNetwork(host, '::1', 128);
}

/** One entry of NO_PROXY: `*`, an address, a network, a domain; all but networks with or without a port. */
function covers(exclusion: string, host: string, port: string): boolean {
  if (exclusion === '*') return true;
  const [base = '', bits, ...more] = exclusion.split('/');
  if (bits !== undefined) return more.length === 0 && /^\d{1,3}$/.test(bits) && isInNetwork(host, base, Number(bits));
  const { name, port: only } = splitPort(exclusion);
  if (name === '' || (only !== undefined && only !== port)) return false;
  const family = isIP(name);
  if (family !== 0) return isInNetwork(host, name, family === 4 ? 32 : 128);
  const suffix = name.startsWith('*.') ? name.slice(1) : name;
  return suffix.startsWith('.') ? host.endsWith(suffix) : host === suffix || host.endsWith(`.${suffix}`);
}

/** `host:port`, `[IPv6]:port`, `[IPv6]`, or a host alone; an IPv6 address without brackets has no port. */
function splitPort(text: string): { readonly name: string; readonly port: string | undefined } {
  if (isIP(text) === 6) return { name: text, port: undefined };
  const [, bracketed, plain, port] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? [];
  return { name: bracketed ?? plain ?? '', port };
}

/** An IPv4 address that is written as IPv6 (`::ffff:10.0.0.1`) is the same address. */
function isInNetwork(host: string, base: string, bits: number): boolean {
  const [ours, theirs] = [isIP(host), isIP(base)];
  if (ours === 0 || theirs === 0 || bits > (theirs === 4 ? 32 : 128)) return false;
  if (ours === 4 && theirs === 6 && !/^::ffff:/i.test(base)) return false;
  const network = new BlockList();
  network.addSubnet(base, bits, theirs === 4 ? 'ipv4' : 'ipv6');
  return network.check(host, ours === 4 ? 'ipv4' : 'ipv6');
}
