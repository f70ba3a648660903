import { Deployment, ReplicaSet } from '@kctl/apimachinery/kinds/apps/v1';
import { Namespace, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment, type TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseTarget } from '../src/inspect/find-pods.js';
import { parseSamples } from '../src/inspect/metric-samples.js';
import { reportOf } from '../src/inspect/replica-report.js';
import { kctl, project } from './project.js';

const healthy = `# HELP leader_election_master_status Gauge
leader_election_master_status{name="websites"} 1
kctl_manager_paused 0
controller_runtime_max_concurrent_reconciles{controller="website"} 2
controller_runtime_active_workers{controller="website"} 1
controller_runtime_reconcile_time_seconds_sum{controller="website"} 0.5
controller_runtime_reconcile_time_seconds_count{controller="website"} 100
controller_runtime_reconcile_errors_total{controller="website"} 3
kctl_controller_reconcile_requests_sum{controller="website"} 150
workqueue_depth{name="website",controller="website",priority="0"} 2
workqueue_depth{name="website",controller="website",priority="-100"} 1
workqueue_longest_running_processor_seconds{name="website",controller="website"} 1
informer_state{name="websites",state="watching"} 1
informer_state{name="websites",state="retrying"} 0
informer_store_objects{name="websites"} 1000
informer_store_bytes{name="websites"} 1048576
`;

describe('what a replica says', () => {
  it('is read from its metrics', () => {
    expect(reportOf(parseSamples(healthy), '[+]caches ok\nreadyz check passed\n')).toEqual({
      problems: [],
      isLeading: true,
      isPaused: false,
      controllers: [
        {
          name: 'website',
          runs: 100,
          errors: 3,
          meanMs: 5,
          meanRequests: 1.5,
          waiting: 3,
          activeWorkers: 1,
          workers: 2,
          longestRunSeconds: 1,
        },
      ],
      informers: [{ name: 'websites', state: 'watching', objects: 1000, bytes: 1_048_576 }],
    });
  });

  it('names what is wrong', () => {
    const ill = healthy
      .replace('errors_total{controller="website"} 3', 'errors_total{controller="website"} 90')
      .replace('state="watching"} 1', 'state="watching"} 0')
      .replace('state="retrying"} 0', 'state="retrying"} 1')
      .replace('controller="website"} 1\ninformer', 'controller="website"} 600\ninformer')
      .replace('controller="website"} 1\n', 'controller="website"} 2\n')
      .replace('priority="0"} 2', 'priority="0"} 5000');
    const more =
      'kctl_controller_hot_loops_total{controller="website"} 4\nkctl_events_dropped_total{reason="spam"} 1\n';
    expect(reportOf(parseSamples(ill + more), '[-]caches failed: reason withheld\n').problems).toEqual([
      'not ready: the check caches fails',
      'informer websites is retrying: see the log for why',
      'controller website: 90 of 100 runs have failed: see its log',
      'controller website: a run has gone on for 600 s: does it wait without a limit?',
      'controller website: 5001 objects wait and all 2 workers are busy: raise maxConcurrentReconciles',
      'controller website: 4 objects were reconciled in a loop: it writes something that its own watch reports',
      '1 Events were not delivered: spam',
    ]);
  });

  it('may have escaped labels, and numbers of every form', () => {
    expect(parseSamples('a{b="x\\"y\\\\z\\n",c="}"} +Inf\nd -Inf 1700000000\n# e 1\nnot a sample!\n')).toEqual([
      { name: 'a', labels: { b: 'x"y\\z\n', c: '}' }, value: Infinity },
      { name: 'd', labels: {}, value: -Infinity },
    ]);
  });
});

it.each([
  ['websites', 'Deployment'],
  ['deploy/websites', 'Deployment'],
  ['statefulsets/websites', 'StatefulSet'],
  ['Pod/websites', 'Pod'],
])('takes %s for a %s', (text, kind) => {
  expect(parseTarget(text, 'a')).toMatchObject({ namespace: 'a', name: 'websites', kind: { kind } });
});

describe('kctl inspect', () => {
  const namespace = 'websites-system';
  let environment: TestEnvironment;
  let cluster: readonly string[];
  beforeAll(async () => {
    environment = await createEnvironment({ server: 'embedded' });
    cluster = ['--kubeconfig', environment.kubeconfigPath];
    await environment.client.create(Namespace, {
      metadata: { name: namespace },
    });
  });
  afterAll(() => environment.stop());

  it('says that nothing is deployed', async () => {
    const missing = await kctl(project(), 'inspect', ...cluster);
    expect(missing).toMatchObject({ code: 1, out: '' });
    expect(missing.err).toMatch(
      /^kctl: deployment\/websites in websites-system does not exist: deploy it by npx kctl deploy, or name another\n$/,
    );
  });

  it('names what is not a workload', async () => {
    expect(await kctl(project(), 'inspect', 'job/x', '--namespace', 'a', ...cluster)).toMatchObject({
      code: 2,
      err: 'kctl: "job/x" is not a workload: expected deployment, statefulset, replicaset, daemonset, pod, a slash and a name, such as deployment/websites\n',
    });
  });

  it('asks each replica through the API server, and goes on where one does not answer', async () => {
    const { client, embedded } = environment;
    const labels = { app: 'websites' };
    const selector = { matchLabels: labels };
    const container = {
      name: 'operator',
      image: 'websites',
      ports: [
        { name: 'metrics', containerPort: 8080 },
        { name: 'health', containerPort: 8081 },
      ],
    };
    const template = { metadata: { labels }, spec: { containers: [container] } };
    const key = { namespace, name: 'websites' };
    await client.create(Deployment, { metadata: key, spec: { replicas: 0, selector, template } });
    expect((await kctl(project(), 'inspect', ...cluster)).err).toBe(
      'kctl: deployment/websites in websites-system has no pods: is it deployed? See npx kctl deploy, or kubectl describe\n',
    );
    await client.create(ReplicaSet, { metadata: { ...key, labels }, spec: { replicas: 0, selector, template } });
    const runPod = async (name: string, ...containers: (typeof container)[]): Promise<void> => {
      await client.create(Pod, { metadata: { namespace, name, labels }, spec: { nodeName: 'node-1', containers } });
      const running = {
        phase: 'Running',
        containerStatuses: [
          { name: 'operator', state: { running: {} }, ready: true, image: '', imageID: '', restartCount: 0 },
        ],
      };
      await client.status(Pod).patch({ namespace, name }, { type: 'merge', body: { status: running } });
    };
    for (const name of ['websites-0', 'websites-1', 'websites-2'])
      await runPod(name, name === 'websites-2' ? { ...container, ports: [] } : container);
    const answer = (body: string): string =>
      `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
    const http = (body: string) => (connection: NodeJS.ReadWriteStream) =>
      void connection.once('data', () => connection.end(answer(body)));
    embedded?.pods.script(
      { namespace, name: 'websites-0' },
      { ports: { 8080: http(healthy), 8081: http('[+]caches ok\n') } },
    );

    const found = await kctl(project(), 'inspect', ...cluster);
    expect(found).toMatchObject({ code: 1, err: 'kctl: 2 problems found\n' });
    expect(found.out).toContain(`websites-0, leads
  controller  runs  errors  mean    requests/run  waiting  workers
  website     100   3       5.0 ms  1.5           3        1/2
  informer  state     objects  size
  websites  watching  1000     1.0 MiB
`);
    expect(found.out).toMatch(/websites-1\n {2}problem {2}it does not answer: /);
    expect(found.out).toContain('websites-2\n  problem  it has no port named metrics: set metricsBindAddress');

    const inspected = {
      ...container,
      ports: [],
      env: [{ name: 'INSPECTION_BIND_ADDRESS', value: '127.0.0.1:8082' }],
    };
    await runPod('websites-3', inspected);
    const idle = { memory: {}, recorder: {}, problems: [{ text: 'the lease was not renewed for 9 s' }] };
    const overview = { ...idle, isLeader: true, leaseAgeMs: 9000, isPaused: false, controllers: [] };
    const row = { controller: 'website', key: 'shop/a', state: 'looping', attempts: 0, advice: 'Compare first.' };
    const run = { sequence: 7, controller: 'website', key: 'shop/a', queuedAt: 0, events: [], eventsOmitted: 0 };
    const cycle = { ...run, reasons: ['resync'], writes: [], writesOmitted: 0 };
    const views: Readonly<Record<string, unknown>> = {
      overview,
      keys: { rows: [row, { ...row, key: 'shop/b', state: 'idle' }] },
      informers: [{ kind: 'Website.example.com', phase: 'watching', objects: 2, bytes: 1_048_576 }],
      timeline: { keys: [row], cycles: [cycle], writtenBy: [] },
    };
    const serveViews = (connection: NodeJS.ReadWriteStream): void =>
      void connection.once('data', (request: Buffer) => {
        const [, view = ''] = /^GET \/debug\/kctl\/(\w+)/.exec(request.toString()) ?? [];
        connection.end(answer(JSON.stringify(views[view])));
      });
    embedded?.pods.script({ namespace, name: 'websites-3' }, { ports: { 8082: serveViews } });
    const third = ['pod/websites-3', '--namespace', namespace, ...cluster];
    expect((await kctl(project(), 'inspect', ...third)).out).toBe(`websites-3, leads
  problem  the lease was not renewed for 9 s
  key     controller  state    attempts  next  failure
  shop/a  website     looping
  advice  Compare first.
  informer             state     objects  size
  Website.example.com  watching  2        1.0 MiB
`);
    const whole = await kctl(project(), 'inspect', 'why', 'website/shop/a', ...cluster);
    expect(whole).toEqual({
      code: 0,
      err: '',
      out: `website/shop/a in websites-3
  website: looping
    Compare first.
#7  website shop/a  00:00:00.000  waits
    why    resync
`,
    });
    expect(await kctl(project(), 'inspect', 'why', 'a/b/c', '--target', 'pod/websites-0', ...cluster)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^kctl: no replica serves an inspection: set inspectionBindAddress, such as/),
    });
    const hangUp = (connection: NodeJS.ReadWriteStream): void => void connection.end();
    embedded?.pods.script({ namespace, name: 'websites-3' }, { ports: { 8082: hangUp } });
    const silent = await kctl(project(), 'inspect', 'why', 'a/b/c', ...cluster);
    expect(silent).toMatchObject({ code: 1, out: '' });
    expect(silent.err).toMatch(/^websites-3 does not answer: .+\nkctl: no replica answers: /);
    const quiet = await kctl(project(), 'inspect', ...third);
    expect(quiet.out).toMatch(/^websites-3\n {2}problem {2}its inspection does not answer: /);

    const json = await kctl(project(), 'inspect', 'pod/websites-0', '--namespace', namespace, '--json', ...cluster);
    expect(json).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(json.out)).toMatchObject({ replicas: [{ pod: 'websites-0', isLeading: true }] });
  });
});
