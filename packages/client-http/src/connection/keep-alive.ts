/** Probes a silent connection after this many ms; libuv then gives it up after ten unanswered probes, a second apart. */
export const keepAliveProbeMs = 30_000;
