/** The port of a bind address such as `:8081`; undefined for `0`, which is not a port. */
export function parsePort(address: string): number | undefined {
  const port = Number(/:(\d+)$/.exec(address)?.[1] ?? 0);
  return port === 0 ? undefined : port;
}
