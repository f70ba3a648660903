import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock, settle } from '@kctl/wait/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { createManager, isManagerError } from '../src/index.js';
import { defaultGracefulShutdownTimeoutMs } from '../src/create-manager.js';
import { defaultMetricsPort, defaultMetricsPath } from '../src/metrics-server.js';
import { headersTimeoutMs, keepAliveTimeoutMs, maxHeaderSize, defaultShutdownTimeoutMs } from '../src/http-server.js';
import { defaultCertDir } from '../src/serving-certificate.js';
import { groupOf } from '../src/runnable.js';
import { fakeCluster } from './fakes.js';

interface Row {
  readonly option: string;
  readonly ours: unknown;
  /** As controller-runtime's `manager.Options` has it (main, August 2026), in our units. */
  readonly upstream: unknown;
  /** Why ours differs. */
  readonly difference?: string;
}

const manager = createManager({ cluster: fakeCluster() });
const noGlobals = 'nothing is global, nothing is guessed: @kctl/runtime makes the parts from a kubeconfig';
const rows: readonly Row[] = [
  {
    option: 'cluster (Scheme, MapperProvider, Cache, Client)',
    ours: 'required',
    upstream: 'made from Config',
    difference: noGlobals,
  },
  { option: 'leaderElection', ours: 'off', upstream: 'off' },
  { option: 'leaderElection.onLost', ours: 'exit', upstream: 'exit' },
  { option: 'gracefulShutdownTimeoutMs', ours: defaultGracefulShutdownTimeoutMs, upstream: 30_000 },
  { option: 'health', ours: 'off', upstream: 'off' },
  { option: 'health.livenessPath', ours: '/healthz', upstream: '/healthz' },
  { option: 'health.readinessPath', ours: '/readyz', upstream: '/readyz' },
  { option: 'health.builtInChecks', ours: true, upstream: false, difference: 'everybody wrote them by hand' },
  { option: 'metricsServer', ours: 'off', upstream: 'on', difference: 'it needs metrics that can be exported' },
  { option: 'metricsServer.port', ours: defaultMetricsPort, upstream: 8080 },
  { option: 'metricsServer.path', ours: defaultMetricsPath, upstream: '/metrics' },
  { option: 'metricsServer.secureServing', ours: false, upstream: false },
  {
    option: 'metricsServer.certDir',
    ours: defaultCertDir,
    upstream: join(tmpdir(), 'k8s-metrics-server', 'serving-certs'),
  },
  { option: 'metricsServer.certName', ours: 'tls.crt', upstream: 'tls.crt' },
  { option: 'metricsServer.keyName', ours: 'tls.key', upstream: 'tls.key' },
  { option: 'metricsServer without certificate files', ours: 'self-signed', upstream: 'self-signed' },
  { option: 'metricsServer.filter', ours: 'none', upstream: 'none' },
  { option: 'profiling', ours: 'off', upstream: 'off' },
  { option: 'controllers', ours: manager.controllerDefaults, upstream: {} },
  {
    option: 'needLeaderElection of a runnable that does not say',
    ours: groupOf({ run: async () => undefined }),
    upstream: 'leader',
  },
  { option: 'server: largest header, bytes', ours: maxHeaderSize, upstream: 1 << 20 },
  { option: 'server: idle timeout', ours: keepAliveTimeoutMs, upstream: 90_000 },
  { option: 'server: header timeout', ours: headersTimeoutMs, upstream: 32_000 },
  { option: 'server: shutdown timeout', ours: defaultShutdownTimeoutMs, upstream: 60_000 },
];

describe('defaults', () => {
  afterAll(() => console.table(rows.map(({ difference = '', ...row }) => ({ ...row, difference }))));

  it.each(rows)('$option: ours $ours, upstream $upstream', ({ ours, upstream, difference }) => {
    if (difference === undefined) expect(ours).toEqual(upstream);
    else expect(ours).not.toEqual(upstream);
  });

  it('leads at once without election, and binds no port', async () => {
    const clock = new FakeClock();
    const quiet = createManager({ cluster: fakeCluster(), clock });
    const stop = new AbortController();
    const done = quiet.run(stop.signal);
    await settle();
    expect(quiet.isLeader).toBe(true);
    expect(() => quiet.addMetricsHandler('/x', () => true)).toThrow(
      expect.objectContaining({ code: 'KCTL_MANAGER' }) as Error,
    );
    stop.abort();
    await done;
    expect(isManagerError(await quiet.run(stop.signal).catch((error: unknown) => error))).toBe(true);
  });
});
