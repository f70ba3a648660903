// Files of prom-client whose types its index has.

declare module 'prom-client/lib/registry.js' {
  export { Registry as default } from 'prom-client';
}
declare module 'prom-client/lib/counter.js' {
  export { Counter as default } from 'prom-client';
}
declare module 'prom-client/lib/gauge.js' {
  export { Gauge as default } from 'prom-client';
}
declare module 'prom-client/lib/histogram.js' {
  export { Histogram as default } from 'prom-client';
}

/** One of the default metrics: registers what it measures. */
declare module 'prom-client/lib/metrics/*' {
  const register: (
    registry: import('prom-client').Registry,
    options: { readonly eventLoopMonitoringPrecision: number },
  ) => void;
  export default register;
}
