import { EventEmitter, once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInspection } from '@kctl/inspection';
import type { ReadPod } from '@kctl/pods';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPage, parseObject } from '../src/commands/why.js';
import { devInspection, openOnKey } from '../src/dev/dev-inspection.js';
import { givenSetting } from '../src/dev/given-settings.js';
import { freePort } from '../src/dev/free-port.js';
import { linkKubeconfig } from '../src/dev/link-kubeconfig.js';
import { onLoopback } from '../src/dev/on-loopback.js';
import { inspectionPortOf } from '../src/inspect/inspection-endpoint.js';
import { keysOf } from '../src/terminal-keys.js';
import { kctl, project } from './project.js';

describe('kctl inspect why', () => {
  const inspection = createInspection();
  const server = inspection.server({ port: 0 });
  const stop = new AbortController();
  let running: Promise<void>;
  let url = '';
  beforeAll(async () => {
    running = server.run(stop.signal);
    await server.waitForReady?.(stop.signal);
    url = `http://127.0.0.1:${server.address?.port ?? 0}`;
    const { observer } = inspection;
    const header = { resourceVersion: '41' } as never;
    const cause = { source: 'kind source: Deployment.apps', type: 'update', name: 'shop/web', header } as const;
    observer.queued('deployments', 'shop/web', { cause });
    const context = { attempt: 1, reasons: [], reconcileId: 'run-1' } as never;
    const tally = observer.started('deployments', 'shop/web', context);
    const error = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    observer.settled(tally, { result: 'error', error, nextMs: 3_600_000, isLooping: false });
  });
  afterAll(async () => {
    stop.abort();
    await running;
  });

  it('prints the timeline of an object, with what to do about it', async () => {
    const { code, out, err } = await kctl(project(), 'inspect', 'why', 'deployment/shop/web', '--url', url);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      new RegExp(
        [
          '^deployment/shop/web in 127\\.0\\.0\\.1:\\d+',
          '  deployments: failing, 1 failed or backed off in a row, again in 60 min: Error \\[ECONNREFUSED\\].*',
          '    A connection has failed: .*',
          '#1  deployments shop/web  [\\d:.]{12}  error  \\d+ ms  attempt 1  Error \\[ECONNREFUSED\\].*  reconcileID run-1',
          '    why    kind source: Deployment\\.apps update shop/web @41',
          '$',
        ].join('\\n'),
      ),
    );
  });

  it('prints it as JSON', async () => {
    const { out } = await kctl(project(), 'inspect', 'why', 'Deployment.apps/shop/web', '--url', url, '--json');
    expect(JSON.parse(out)).toMatchObject({ replicas: [{ replica: new URL(url).host, cycles: [{ sequence: 1 }] }] });
  });

  it('has an overview: the keys that do something, and what to do', async () => {
    const { code, out, err } = await kctl(project(), 'inspect', '--url', url.replace('http://', ''));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(
      /^127\.0\.0\.1:\d+, waits for the lease\n {2}key {7}controller {3}state {4}attempts {2}next {7}failure\n {2}shop\/web {2}deployments {2}failing {2}1 {9}in 60 min {2}Error \[ECONNREFUSED\].*\n {2}advice {2}A connection has failed: .*\n$/,
    );
    const json = await kctl(project(), 'inspect', '--url', url, '--json');
    expect(JSON.parse(json.out)).toMatchObject({
      replicas: [{ problems: [], keys: [{ key: 'shop/web', state: 'failing', attempts: 1 }] }],
    });
  });

  it.each([
    [
      'http://127.0.0.1:1',
      1,
      /^kctl: http:\/\/127\.0\.0\.1:1\/debug\/kctl\/ does not answer \(.+\): is the operator running, with/,
    ],
    ['http://:', 2, /^kctl: --url "http:\/\/:" is not an address: expected one such as/],
  ])('names what does not answer at %s', async (address, code, message) => {
    for (const args of [['why', 'pod/a/b'], ['--page'], []])
      expect(await kctl(project(), 'inspect', ...args, '--url', address)).toMatchObject({
        code,
        out: '',
        err: expect.stringMatching(message),
      });
  });

  it('names an address of something else', async () => {
    const other = createServer((_request, response) => void response.end('<html>')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const { code, err } = await kctl(project(), 'inspect', 'why', 'pod/a/b', '--url', `127.0.0.1:${port}`);
    expect([code, err]).toEqual([
      1,
      `kctl: http://127.0.0.1:${port}/debug/kctl/ does not answer as the inspection of an operator does: is this the address of another?\n`,
    ]);
    other.close();
  });

  it('prints no document for a page', async () => {
    expect(await kctl(project(), 'inspect', '--page', '--json', '--url', url)).toMatchObject({
      code: 2,
      out: '',
      err: "kctl: option '--page' cannot be used with option '--json': see npx kctl inspect --help\n",
    });
  });

  it('says that nothing is recorded, and what is not an object', async () => {
    const unknown = await kctl(project(), 'inspect', 'why', 'pod/shop/web', '--url', url);
    expect(unknown).toMatchObject({ code: 1, out: '' });
    expect(unknown.err).toMatch(/^kctl: nothing is recorded of pod\/shop\/web: /);
    expect(await kctl(project(), 'inspect', 'why', 'web', '--url', url)).toMatchObject({
      code: 2,
      err: 'kctl: "web" is not an object: expected kind, namespace and name, such as deployment/shop/web\n',
    });
    expect(parseObject('namespace/shop')).toEqual({ kind: 'namespace', key: 'shop' });
  });

  it('opens the page, until the command ends', async () => {
    const ending = new AbortController();
    const opened: string[] = [];
    const io = {
      cwd: project(),
      environment: {},
      out: () => undefined,
      err: () => undefined,
      signal: ending.signal,
      open: (address: string) => {
        opened.push(address);
        ending.abort();
      },
    };
    await openPage(io, { url });
    expect(opened).toEqual([`${url}/debug/kctl/`]);
  });
});

it.each([
  [{ ports: [{ name: 'inspection', containerPort: 9000 }] }, 9000],
  [{ env: [{ name: 'INSPECTION_BIND_ADDRESS', value: '127.0.0.1:8082' }] }, 8082],
  [{ args: ['--leader-elect', '--inspection-bind-address=:8083'] }, 8083],
  [{ args: ['--inspection-bind-address', '[::1]:8084'] }, 8084],
  [{ env: [{ name: 'INSPECTION_BIND_ADDRESS', value: '0' }] }, undefined],
  [{}, undefined],
])('finds the port of %o', (container, port) => {
  const pod = { metadata: {}, spec: { containers: [{ name: 'operator', ...container }] } } as unknown as ReadPod;
  expect(inspectionPortOf(pod)).toBe(port);
});

describe('the inspection of kctl dev', () => {
  it('is on, at a free port of this machine, and i opens it', async () => {
    const inspection = await devInspection({ environment: {}, cwd: '' }, []);
    const address = inspection.environment['INSPECTION_BIND_ADDRESS'];
    expect(address).toMatch(/^127\.0\.0\.1:[1-9]\d*$/);
    expect(inspection.url).toBe(`http://${address}/debug/kctl/`);
    const opened: string[] = [];
    let press: (key: string) => void = () => undefined;
    let left = 0;
    let err = '';
    const io = {
      cwd: '',
      environment: {},
      out: () => undefined,
      err: (text: string) => void (err += text),
      signal: new AbortController().signal,
      open: (url: string) => void opened.push(url),
      onKey: (listener: (key: string) => void) => {
        press = listener;
        return () => void left++;
      },
    };
    const leave = openOnKey(io, inspection);
    press('x');
    press('i');
    leave();
    expect({ opened, left, err }).toEqual({
      opened: [inspection.url],
      left: 1,
      err: `inspection at ${inspection.url}: press i to open it\n`,
    });
  });

  it.each([
    [['--inspection-bind-address', '127.0.0.1:9000'], {}, 'http://127.0.0.1:9000/debug/kctl/'],
    [['--inspection-bind-address=[::1]:9000'], { INSPECTION_BIND_ADDRESS: '0' }, 'http://[::1]:9000/debug/kctl/'],
    [[], { INSPECTION_BIND_ADDRESS: ':9000' }, 'http://127.0.0.1:9000/debug/kctl/'],
    [['--inspection-bind-address=0'], {}, undefined],
  ])('stays where the person has it: %j %j', async (given, environment, url) => {
    expect(await devInspection({ environment, cwd: '' }, given)).toEqual({ url, environment: {} });
  });

  it('stays where the file of the settings has it, below flags and variables', async () => {
    const cwd = project();
    writeFileSync(join(cwd, 'settings.yaml'), 'inspectionBindAddress: 127.0.0.1:9001\nwebhookPort: 9444\n');
    const url = (port: number): unknown => ({ url: `http://127.0.0.1:${port}/debug/kctl/`, environment: {} });
    const given = ['--config', 'settings.yaml'];
    expect(await devInspection({ environment: {}, cwd }, given)).toEqual(url(9001));
    expect(await devInspection({ environment: { CONFIG_FILE: 'settings.yaml' }, cwd }, [])).toEqual(url(9001));
    const environment = { INSPECTION_BIND_ADDRESS: ':9000' };
    expect(await devInspection({ environment, cwd }, given)).toEqual(url(9000));
    expect(givenSetting({ environment: {}, cwd }, given, 'webhookPort')).toBe('9444');
    expect(givenSetting({ environment: {}, cwd }, ['--config=none.yaml'], 'webhookPort')).toBeUndefined();
  });
});

describe('metrics and health of kctl dev', async () => {
  const [health, metrics] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')];
  const addresses = { healthProbeBindAddress: `:${health}`, metricsBindAddress: `:${metrics}` };
  const loopback = { HEALTH_PROBE_BIND_ADDRESS: `127.0.0.1:${health}`, METRICS_BIND_ADDRESS: `127.0.0.1:${metrics}` };
  let printed = '';
  const io = { environment: {}, cwd: '', err: (text: string) => void (printed += text) };

  it('are for this machine alone, at the ports of the operator', async () => {
    expect(await onLoopback(io, [], addresses)).toEqual(loopback);
    const other = { healthProbeBindAddress: '0', metricsBindAddress: '[::]:1' };
    expect(await onLoopback(io, [], other)).toEqual({});
  });

  it('stay where the person has them', async () => {
    const given = ['--metrics-bind-address', ':9090'];
    const { METRICS_BIND_ADDRESS: _given, ...rest } = loopback;
    expect(await onLoopback(io, given, addresses)).toEqual(rest);
    const environment = { HEALTH_PROBE_BIND_ADDRESS: ':1', METRICS_BIND_ADDRESS: '0' };
    expect(await onLoopback({ ...io, environment }, [], addresses)).toEqual({});
  });

  it('have free ports while another run has those of the operator', async () => {
    const server = createServer();
    await once(server.listen(metrics, '127.0.0.1'), 'listening');
    try {
      printed = '';
      const found = await onLoopback(io, [], addresses);
      expect(found).toMatchObject({ HEALTH_PROBE_BIND_ADDRESS: loopback.HEALTH_PROBE_BIND_ADDRESS });
      expect(found['METRICS_BIND_ADDRESS']).toMatch(/^127\.0\.0\.1:\d+$/);
      expect(found['METRICS_BIND_ADDRESS']).not.toBe(loopback.METRICS_BIND_ADDRESS);
      expect(printed).toBe(
        `metricsBindAddress is ${found['METRICS_BIND_ADDRESS']}, because another program has port ${metrics}\n`,
      );
    } finally {
      server.close();
    }
  });
});

describe('the kubeconfig of kctl dev', () => {
  it('has the same path at each start, unless another run has it', () => {
    const folder = project();
    mkdirSync(join(folder, 'node_modules'));
    const own = (name: string): string => {
      const file = join(folder, name);
      writeFileSync(file, name);
      return file;
    };
    const [first, second, third] = [own('first'), own('second'), own('third')];
    const link = linkKubeconfig(folder, first);
    expect(link).toBe(join(folder, 'node_modules', '.cache', 'kctl', 'kubeconfig'));
    expect(linkKubeconfig(folder, second)).toBe(second);
    rmSync(first);
    expect(linkKubeconfig(folder, third)).toBe(link);
    expect(readFileSync(link, 'utf8')).toBe('third');
    expect(linkKubeconfig(join(folder, 'src'), third)).toBe(third);
  });
});

it('says of an option that needs a cluster how one is named', async () => {
  for (const given of [['--take-over'], ['--webhook-host', 'tunnel']]) {
    const { code, err } = await kctl(project(), 'dev', ...given);
    expect(code).toBe(2);
    expect(err).toMatch(/^kctl: --[a-z-]+ of kctl dev: name the cluster by --context or --kubeconfig; .*\n$/);
  }
});

describe('keys of a terminal', () => {
  it('reach a listener until it leaves; Ctrl-C interrupts', () => {
    const modes: boolean[] = [];
    const input = Object.assign(new EventEmitter(), {
      isTTY: true,
      setRawMode: (mode: boolean) => modes.push(mode),
      resume: () => undefined,
      pause: () => undefined,
    });
    let interrupts = 0;
    const pressed: string[] = [];
    const leave = keysOf(input, () => interrupts++)?.((key) => pressed.push(key));
    input.emit('data', Buffer.from('ix'));
    input.emit('data', '\u0003');
    leave?.();
    input.emit('data', 'i');
    expect([pressed, interrupts, modes]).toEqual([['i', 'x'], 1, [true, false]]);
  });

  it('are not there without a terminal', () => {
    const input = Object.assign(new EventEmitter(), { resume: () => undefined, pause: () => undefined });
    expect(keysOf(input, () => undefined)).toBeUndefined();
  });
});
