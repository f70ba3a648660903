// Files of undici whose types its index has.

declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
declare module 'undici/lib/dispatcher/proxy-agent.js' {
  export { ProxyAgent as default } from 'undici';
}
declare module 'undici/lib/dispatcher/socks5-proxy-agent.js' {
  /** Opens tunnels; what it does as a dispatcher fails with servers that are addresses (Node 26). */
  export default class Socks5ProxyAgent {
    constructor(proxyUrl: string, options: { connectTimeout: number });
    createSocks5Connection(host: string, port: number): Promise<import('node:net').Socket>;
  }
}
/** A method of every dispatcher; the index puts it there. */
declare module 'undici/lib/api/api-connect.js' {
  const connect: import('undici').Dispatcher['connect'];
  export default connect;
}
