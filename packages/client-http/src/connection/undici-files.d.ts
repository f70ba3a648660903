// Files of undici whose types its index has.

declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
declare module 'undici/lib/dispatcher/proxy-agent.js' {
  export { ProxyAgent as default } from 'undici';
}
declare module 'undici/lib/dispatcher/socks5-proxy-agent.js' {
  export { Socks5ProxyAgent as default } from 'undici';
}
/** A method of every dispatcher; the index puts it there. */
declare module 'undici/lib/api/api-connect.js' {
  const connect: import('undici').Dispatcher['connect'];
  export default connect;
}
