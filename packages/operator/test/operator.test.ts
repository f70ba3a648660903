import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { NoKindMatchError } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { controllerManagedBy } from '@kctl/runtime';
import { createConsoleLogger } from '@kctl/telemetry';
import { startExample } from '@kctl/vitest-config/example';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineOperator, loadSettings, managerOptionsOf, standardDefaults } from '../src/index.js';
import { createReconcileLog } from '../src/reconcile-log.js';
import { withRemedies } from '../src/remedy-logger.js';
import { createLevelReloader } from '../src/level-reloader.js';

const schema = z.object({
  maxSites: z.number().int().min(1).default(10).describe('Sites at most.'),
  hosts: z.array(z.string()).optional(),
  mode: z.enum(['fast', 'safe']).default('safe'),
  strict: z.boolean().default(false),
  features: z.array(z.enum(['a', 'b'])).optional(),
});
const settingsOf = async (given: readonly string[], environment: Record<string, string> = {}, file?: string) => {
  const sources = { arguments: given, environment, ...(file === undefined ? {} : { readFile: () => file }) };
  const loaded = await loadSettings('op', schema, sources);
  if (loaded.help !== undefined) throw new Error(loaded.help);
  return loaded.settings;
};

const typescript = join(import.meta.dirname, '..', '..', '..', 'scripts', 'typescript.mjs');

describe('loadSettings', () => {
  it('has defaults, then the file, then the environment, then flags', async () => {
    const file = 'maxSites: 2\nlogLevel: warn\nmode: fast\nwebhookPort: 1\n';
    const environment = { CONFIG_FILE: '/etc/op.yaml', MAX_SITES: '3', LOG_LEVEL: 'debug' };
    expect(await settingsOf([])).toMatchObject({ ...standardDefaults, maxSites: 10, mode: 'safe', strict: false });
    expect(await settingsOf(['--config', 'x'], {}, file)).toMatchObject({
      maxSites: 2,
      logLevel: 'warn',
      mode: 'fast',
    });
    expect(await settingsOf([], environment, file)).toMatchObject({
      maxSites: 3,
      logLevel: 'debug',
      mode: 'fast',
      webhookPort: 1,
    });
    expect(await settingsOf(['--features', 'a,b'])).toMatchObject({ features: ['a', 'b'] });
    await expect(settingsOf(['--features', 'a,c'])).rejects.toThrow(
      'setting features (--features, FEATURES) is not valid',
    );
    const flags = ['--max-sites', '4', '--log-level=error', '--strict', '--hosts', 'a, b', '--leader-elect'];
    expect(await settingsOf(flags, environment, file)).toMatchObject({
      maxSites: 4,
      logLevel: 'error',
      strict: true,
      hosts: ['a', 'b'],
      leaderElect: true,
    });
    expect(await settingsOf(['--no-leader-elect'], { LEADER_ELECT: 'true' })).toMatchObject({ leaderElect: false });
    expect(await settingsOf([], { POD_NAMESPACE: 'here' })).toMatchObject({ namespace: 'here' });
  });

  it("takes flags and variables that are on or off as Go's flags do", async () => {
    for (const [given, leaderElect] of [
      [['--leader-elect=true'], true],
      [['--leader-elect=false'], false],
      [['--leader-elect=0'], false],
      [['--leader-elect', '--leader-elect=F'], false],
    ] as const)
      expect(await settingsOf(given, { LEADER_ELECT: leaderElect ? 'false' : 'true' })).toMatchObject({ leaderElect });
    expect(await settingsOf([], { LEADER_ELECT: '1' })).toMatchObject({ leaderElect: true });
    expect(await settingsOf(['--strict=false'], { STRICT: 'TRUE' })).toMatchObject({ strict: false });
    expect(await settingsOf(['--webhook-port', '-1'])).toMatchObject({ webhookPort: -1 });
  });

  it('takes the namespaces of WATCH_NAMESPACE, which operators of other tools are deployed with', async () => {
    expect(await settingsOf([], { WATCH_NAMESPACE: 'a, b' })).toMatchObject({ watchNamespaces: ['a', 'b'] });
    const both = { WATCH_NAMESPACE: 'a', WATCH_NAMESPACES: 'b' };
    expect(await settingsOf([], both)).toMatchObject({ watchNamespaces: ['b'] });
    expect(await settingsOf(['--watch-namespaces', 'c'], both)).toMatchObject({ watchNamespaces: ['c'] });
  });

  it.each<[string, readonly string[], Record<string, string>, string | undefined, RegExp]>([
    [
      'a flag that is not known',
      ['--leader-elct'],
      {},
      undefined,
      /unknown option '--leader-elct' \(Did you mean --leader-elect\?\): see op --help/,
    ],
    ['a flag of the wrong type', ['--webhook-port', 'x'], {}, undefined, /--webhook-port.*expected a number/],
    [
      'a choice that is none',
      ['--log-level', 'loud'],
      {},
      undefined,
      /Allowed choices are trace, debug, info, warn, error/,
    ],
    [
      'an environment variable',
      [],
      { MAX_SITES: 'many' },
      undefined,
      /environment variable MAX_SITES "many" is not valid: .*expected a number/,
    ],
    [
      'a setting of the file',
      [],
      { CONFIG_FILE: 'f.yaml' },
      'loglevel: info',
      /f\.yaml has an unknown setting "loglevel": did you mean logLevel\?/,
    ],
    [
      'a value of the file',
      [],
      { CONFIG_FILE: 'f.yaml' },
      'maxSites: many',
      /f\.yaml: maxSites "many" is not valid: expected a number/,
    ],
    ['a flag that is on or off', ['--leader-elect=maybe'], {}, undefined, /--leader-elect: expected true or false/],
    ['a port that is none', ['--webhook-port', '70000'], {}, undefined, /--webhook-port 70000 .*65535/],
    ['a part of a port', [], { WEBHOOK_PORT: '1.5' }, undefined, /WEBHOOK_PORT 1\.5 /],
    ['a time before it begins', ['--graceful-shutdown-timeout-ms=-1'], {}, undefined, /timeout-ms -1 /],
    ['a port of the file', [], { CONFIG_FILE: 'f.yaml' }, 'webhookPort: .5', /f\.yaml: webhookPort 0\.5 /],
    ['a file that is no mapping', [], { CONFIG_FILE: 'f.yaml' }, '- a', /f\.yaml is not a mapping/],
    [
      'what the schema refuses',
      ['--max-sites', '0'],
      {},
      undefined,
      /setting maxSites \(--max-sites, MAX_SITES\) is not valid/,
    ],
  ])('names %s', async (...[, given, environment, file, message]) => {
    await expect(settingsOf(given, environment, file)).rejects.toThrow(message);
  });

  it('has help with each setting, its default and its variable', async () => {
    const loaded = await loadSettings('op', schema, { arguments: ['--help'] });
    expect(loaded.help).toMatch(/--max-sites <number> +Sites at most\. \(default: 10\)\s+\(env:\s+MAX_SITES\)/);
    expect(loaded.help).toContain('--leader-elect');
  });

  it('refuses a setting that a flag cannot carry, and one that is taken', async () => {
    await expect(loadSettings('op', z.object({ a: z.object({ b: z.string() }) }))).rejects.toThrow(
      'settings.a: a flag cannot carry',
    );
    await expect(loadSettings('op', z.object({ logLevel: z.string() }))).rejects.toThrow(
      'settings.logLevel is a setting that every operator has',
    );
  });
});

describe('managerOptionsOf', () => {
  const logger = createConsoleLogger({ write: () => undefined });
  it('reads bind addresses as Go writes them', () => {
    const options = managerOptionsOf(
      'op',
      { ...standardDefaults, healthProbeBindAddress: '[::1]:1', metricsBindAddress: '0' },
      logger,
    );
    expect(options.health).toEqual({ host: '::1', port: 1 });
    expect(options.metricsServer).toBeUndefined();
    const patterns = ['team-*', '!team-test'];
    const watching = managerOptionsOf('op', { ...standardDefaults, watchNamespaces: patterns, kubeconfig: '' }, logger);
    expect([watching.namespaces, watching.kubeconfigPath]).toEqual([patterns, undefined]);
    expect(managerOptionsOf('op', standardDefaults, logger)).not.toHaveProperty('inspection');
    for (const [address, inspection] of [
      [':8082', { port: 8082 }],
      ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
      ['[::1]:8082', { host: '::1', port: 8082 }],
    ] as const)
      expect(managerOptionsOf('op', { ...standardDefaults, inspectionBindAddress: address }, logger)).toMatchObject({
        inspection,
      });
    const detailed = { ...standardDefaults, inspectionBindAddress: ':8082', inspectionDetails: true };
    expect(managerOptionsOf('op', detailed, logger)).toMatchObject({
      inspection: { port: 8082, recordSecretNames: true, recordErrorMessages: true },
    });
    expect(() =>
      managerOptionsOf('op', { ...standardDefaults, inspectionBindAddress: '0.0.0.0:8082' }, logger),
    ).toThrow('inspectionBindAddress "0.0.0.0:8082" is not a loopback address: use 127.0.0.1 and a port-forward');
    expect(() => managerOptionsOf('op', { ...standardDefaults, metricsBindAddress: '8080' }, logger)).toThrow(
      'metricsBindAddress "8080" is not valid: expected host:port or :port',
    );
  });
});

describe('the log of reconciles', () => {
  it('is off unless it is asked for', () => {
    const logger = createConsoleLogger({ write: () => undefined });
    expect(managerOptionsOf('op', standardDefaults, logger)).not.toHaveProperty('tracer');
    expect(managerOptionsOf('op', { ...standardDefaults, logReconciles: true }, logger)).toHaveProperty('tracer');
  });

  it('has a line for each: what, why, with what result, how long', async () => {
    const clock = new FakeClock();
    const lines: string[] = [];
    const logger = createConsoleLogger({ write: (line) => lines.push(line), format: 'text' });
    const tracer = createReconcileLog(logger, clock);
    const attributes = { controller: 'website', request: 'default/hello' };
    await tracer.withSpan('reconcile', attributes, async (span) => {
      span.setAttributes({ reasons: 'Website create default/hello', attempt: 1 });
      span.setAttributes({ requests: 2 });
      await clock.advance(12);
    });
    const failed = tracer.withSpan('reconcile', attributes, (span) => {
      span.recordError(new Error('broken'));
      return Promise.reject(new Error('broken'));
    });
    await expect(failed).rejects.toThrow('broken');
    await tracer.withSpan('another', {}, () => Promise.resolve());
    expect(lines.map((line) => line.replace(/^\S+ /, '').trimEnd())).toEqual([
      'INFO  reconciled result=success controller=website request=default/hello reasons="Website create default/hello" attempt=1 ms=12 requests=2',
      'INFO  reconciled result=error controller=website request=default/hello ms=0',
    ]);
  });
});

describe('the log level', () => {
  it('follows the file while the operator runs; a file that is wrong changes nothing', async () => {
    const clock = new FakeClock();
    const lines: string[] = [];
    const logger = createConsoleLogger({ write: (line) => lines.push(line) });
    let content = 'logLevel: debug';
    const stop = new AbortController();
    const running = createLevelReloader({ file: 'f', logger, clock, readFile: () => content }).run(stop.signal);
    await clock.advance(10_000);
    expect(logger.level).toBe('debug');
    content = 'logLevel: loud';
    await clock.advance(10_000);
    expect(logger.level).toBe('debug');
    expect(lines.at(-1)).toContain('expected trace, debug, info, warn, error');
    content = '';
    await clock.advance(10_000);
    expect(logger.level).toBe('info');
    stop.abort();
    await running;
  });
});

describe('defineOperator', () => {
  const operator = defineOperator({
    name: 'op',
    settings: schema,
    setup(manager, { maxSites }) {
      controllerManagedBy(manager)
        .for(ConfigMap)
        .withOptions({ maxConcurrentReconciles: maxSites })
        .complete(async () => {
          await Promise.resolve();
        });
    },
  });

  it('has a graph without a cluster: with leader election, and no webhook server where there is no webhook', async () => {
    const { accessNeeds, webhooks, namespace } = await operator.graph();
    expect(namespace).toBe('op-system');
    expect(webhooks).toEqual(new Map());
    expect(accessNeeds.find(({ resource, names }) => resource === 'leases' && names?.[0] === 'op')).toMatchObject({
      verbs: ['get', 'update'],
      namespaces: ['op-system'],
    });
  });

  it('makes a manager for tests', async () => {
    const manager = await operator.createManager(
      { connection: { server: 'https://127.0.0.1:1' } },
      { maxSites: 3, logLevel: 'error' },
    );
    expect(manager.accessNeeds().some(({ resource }) => resource === 'configmaps')).toBe(true);
    await manager.liveClient[Symbol.asyncDispose]();
  });

  it('does not run where the module is not the program', async () => {
    await expect(operator.main(import.meta.url)).resolves.toBeUndefined();
  });

  it.each([
    ['1 after a failure', [], 1, 'setup: no database\n'],
    [
      '2 for a setting that is not valid',
      ['--metrics-bind-address', '8080'],
      2,
      /^metricsBindAddress "8080" is not valid/,
    ],
  ])('ends the process with exit code %s, whatever it keeps alive', async (_what, args, code, output) => {
    const program = startExample(join(import.meta.dirname, 'failed-program.ts'), { args });
    expect(await program.exited).toBe(code);
    expect(program.output).toMatch(output);
  });

  it('ends the process where nothing reads what it has to say', async () => {
    // A pipe that is full takes nothing further.
    const child = spawn(
      process.execPath,
      ['--import', typescript, '--conditions=@kctl/source', join(import.meta.dirname, 'failed-program.ts')],
      { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, FILL: '1' } },
    );
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(1);
    child.stderr.destroy();
  });

  it('adds the rule that a role lacks to what it logs of it', () => {
    const lines: { message: string; remedy?: string }[] = [];
    const logger = withRemedies(
      createConsoleLogger({ write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) }),
    ).child({ controller: 'site' });
    const refused = new Error(
      'pods is forbidden: User "op" cannot list resource "sites/status" in API group "a.b" in the namespace "x"',
    );
    logger.error('Reconciler error', { error: new Error('list failed', { cause: refused }) });
    logger.warn('informer is retrying', { error: refused });
    logger.error('Reconciler error', { error: new Error('conflict') });
    logger.info('started', { error: refused });
    logger.error('Could not wait for cache to sync', {
      error: new NoKindMatchError({ server: 'https://a', group: 'a.b', version: 'v1', kind: 'Site' }),
    });
    expect(lines.pop()?.remedy).toMatch(/^npx kctl install applies the definitions/);
    const remedy =
      'add { apiGroups: ["a.b"], resources: ["sites/status"], verbs: ["list"] } to the role of the operator: npx kctl generate rbac writes what for, owns, watches and needs declare';
    expect(lines.map((line) => line.remedy)).toEqual([remedy, remedy, undefined, undefined]);
  });

  it.each([
    ['stay small', {}, '--semi-space-growth-factor=1\nsetup\n'],
    ['grow where it is asked to', { LET_GROW: '1' }, 'setup\n'],
  ])('has the young generation %s', async (_name, environment, output) => {
    const program = startExample(join(import.meta.dirname, 'young-program.ts'), { env: environment });
    expect(await program.exited).toBe(0);
    expect(program.output).toBe(output);
  });

  it('names a remedy where a port is taken', async () => {
    const program = startExample(join(import.meta.dirname, 'port-program.ts'));
    expect(await program.exited).toBe(1);
    expect(program.output).toMatch(
      /address already in use .*: another process has the port: stop it, or give another by --\S+ or [A-Z_]+\n$/,
    );
  });

  it('says what to do where there is no cluster', async () => {
    const env = { KUBECONFIG: '', HOME: import.meta.dirname, KUBERNETES_SERVICE_HOST: '', NO_CLUSTER: '1' };
    const program = startExample(join(import.meta.dirname, 'port-program.ts'), { env });
    expect(await program.exited).toBe(1);
    expect(program.output).toMatch(
      /^no kubeconfig found: .*: start a cluster and set KUBECONFIG, or run npx kctl dev, which needs none\n$/,
    );
  });

  it('names what is wrong with a definition', () => {
    const setup = (): void => undefined;
    expect(() => defineOperator({ name: 'Op', setup })).toThrow('name "Op" is not valid');
    // As from a caller without types.
    const options = { name: 'op', setup, youngGeneration: 'tiny' as 'small' };
    expect(() => defineOperator(options)).toThrow(
      "defineOperator: youngGeneration \"tiny\" is not valid: expected 'small' or 'grows'",
    );
  });
});
