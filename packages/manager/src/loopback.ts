import type { IncomingMessage } from 'node:http';

/** Whether only this machine can reach a host, by its name or address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** The host of a `Host` header, without its port and the brackets of IPv6. */
export function hostnameOf(header: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(header) ?? [];
  return (bracketed ?? plain).toLowerCase();
}

/**
 * Whether a page of another site may have made a browser send a request. Such a page reaches loopback addresses, also
 * under its own domain name. For endpoints that reveal more than is public.
 *
 * @param options `onlyLoopbackHosts`: whether the `Host` header must name a loopback address. @default true
 */
export function isForeignRequest(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  { onlyLoopbackHosts = true }: { readonly onlyLoopbackHosts?: boolean } = {},
): boolean {
  const host = headers.host ?? '';
  if (onlyLoopbackHosts && !isLoopback(hostnameOf(host))) return true;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const scheme = 'encrypted' in socket ? 'https' : 'http';
  return headers.origin !== undefined && headers.origin !== `${scheme}://${host}`;
}
