/** Whether only this machine can reach a host, by its name or address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** The host of a `Host` header, without its port and the brackets of IPv6. */
export function hostnameOf(header: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(header) ?? [];
  return (bracketed ?? plain).toLowerCase();
}
