/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment asks for, by Go's rules (`http.ProxyFromEnvironment`): HTTPS_PROXY or HTTP_PROXY by
 * the scheme, unless NO_PROXY covers the host; never for localhost and loopback addresses.
 */
export function proxyFromEnvironment(server: string, environment: Environment): string | undefined {
  const url = new URL(server);
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = environment[name] ?? environment[name.toLowerCase()];
  if (proxy === undefined || proxy === '' || isLoopback(url.hostname)) return undefined;
  const exclusions = environment['NO_PROXY'] ?? environment['no_proxy'] ?? '';
  if (exclusions.split(',').some((exclusion) => covers(exclusion.trim(), url))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

function covers(exclusion: string, url: URL): boolean {
  if (exclusion === '') return false;
  if (exclusion === '*') return true;
  const [, name = exclusion, port] = /^(.*?)(?::(\d+))?$/.exec(exclusion) ?? [];
  if (port !== undefined && port !== (url.port === '' ? defaultPort(url) : url.port)) return false;
  if (name.includes('/')) return isInNetwork(url.hostname, name);
  const suffix = name.replace(/^\*/, '').toLowerCase();
  if (suffix.startsWith('.')) return url.hostname.endsWith(suffix);
  return url.hostname === suffix || url.hostname.endsWith(`.${suffix}`);
}

function defaultPort(url: URL): string {
  return url.protocol === 'https:' ? '443' : '80';
}

function isInNetwork(hostname: string, network: string): boolean {
  const [base = '', bitsText = ''] = network.split('/');
  const bits = Number(bitsText);
  const address = ipv4(hostname);
  const prefix = ipv4(base);
  if (address === undefined || prefix === undefined || !Number.isInteger(bits) || bits < 0 || bits > 32) return false;
  const divisor = 2 ** (32 - bits);
  return Math.floor(address / divisor) === Math.floor(prefix / divisor);
}

function ipv4(text: string): number | undefined {
  if (!/^\d+(\.\d+){3}$/.test(text)) return undefined;
  return text.split('.').reduce((value, part) => value * 256 + Number(part), 0);
}
