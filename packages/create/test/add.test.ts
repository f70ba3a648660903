import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { afterEach, describe, expect, it } from 'vitest';
import { addToProject, createProject, type Addition } from '../src/index.js';
import { editMain, type MainEdit } from '../src/edit-main.js';

const root = join(import.meta.dirname, '..', '..', '..');
const cache = join(import.meta.dirname, '..', '.cache');
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function project(): string {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'add-'));
  folders.push(folder);
  createProject({ folder, name: 'shop', group: 'example.com', kind: 'Greeting' });
  return folder;
}

const read = (folder: string, path: string): string => readFileSync(join(folder, ...path.split('/')), 'utf8');
const main = 'src/main.ts';

/** A test of the project, run by itself. */
function run(folder: string, test: string): { readonly status: number | null; readonly stdout: string } {
  // Node takes a test for a part of that which has started it.
  const { NODE_TEST_CONTEXT: _context, ...environment } = process.env;
  const source = ['--import', join(root, 'scripts', 'typescript.mjs'), '--conditions=@kctl/source'];
  return spawnSync(process.execPath, [...source, join('test', test)], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
    timeout: 300_000,
    killSignal: 'SIGKILL',
  });
}

/** The compiler's findings in a project, with the settings of its own tsconfig. */
function typeErrors(folder: string): readonly string[] {
  const { config } = ts.readConfigFile(join(folder, 'tsconfig.json'), ts.sys.readFile) as { readonly config: unknown };
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  const program = ts.createProgram(fileNames, { ...options, customConditions: ['@kctl/source'], skipLibCheck: true });
  return fileNames.flatMap((name) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(name))
      .map(({ messageText }) => `${name}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`),
  );
}

describe('addToProject', () => {
  it('adds what the compiler accepts, with the settings of the project', () => {
    const folder = project();
    addToProject({ folder, what: 'webhook', kind: 'Greeting' });
    for (const what of ['resource', 'controller', 'webhook'] as const) addToProject({ folder, what, kind: 'CronJob' });
    expect(typeErrors(folder)).toEqual([]);
  });

  it('takes a kind with the name of a built-in one', () => {
    mkdirSync(cache, { recursive: true });
    const folder = mkdtempSync(join(cache, 'add-'));
    folders.push(folder);
    createProject({ folder, name: 'shop', group: 'example.com', kind: 'ConfigMap' });
    for (const what of ['resource', 'controller', 'webhook'] as const) addToProject({ folder, what, kind: 'Secret' });
    addToProject({ folder, what: 'webhook', kind: 'ConfigMap' });
    expect(typeErrors(folder)).toEqual([]);
    const { status, stdout } = run(folder, 'config-map.test.ts');
    expect(status, stdout).toBe(0);
  });

  it('adds a kind, its controller and its webhook; the tests of all of them pass', () => {
    const folder = project();
    const given = { folder, kind: 'CronJob' } as const;
    const added = (['resource', 'controller', 'webhook'] as const).map((what) => addToProject({ ...given, what }));
    expect(added).toEqual([
      { written: ['deploy/samples/cron-job.yaml', 'src/api/cron-job.ts'], changed: [main], todo: [] },
      { written: ['src/controllers/cron-job.ts', 'test/cron-job.test.ts'], changed: [main], todo: [] },
      { written: ['src/webhooks/cron-job.ts', 'test/cron-job-webhook.test.ts'], changed: [main], todo: [] },
    ]);
    expect(read(folder, main)).toContain(`import { addGreetingController } from './controllers/greeting.ts';
import { CronJob } from './api/cron-job.ts';
import { addCronJobController } from './controllers/cron-job.ts';
import { addCronJobWebhook } from './webhooks/cron-job.ts';
`);
    expect(read(folder, main)).toContain(`  resources: [Greeting, CronJob],
  setup(manager) {
    addGreetingController(manager);
    addCronJobController(manager);
    addCronJobWebhook(manager);
  },
`);
    for (const { written } of added)
      for (const path of written) expect(read(folder, path), path).not.toMatch(/__[a-zA-Z-]+__/);
    for (const test of ['greeting.test.ts', 'cron-job.test.ts', 'cron-job-webhook.test.ts', 'simulation.test.ts']) {
      const { status, stdout } = run(folder, test);
      expect(status, stdout).toBe(0);
    }
  });

  it.each<[string, Partial<{ what: Addition; kind: string; group: string; main: string }>, string]>([
    ['a kind that is no name', { kind: 'web-site' }, 'kind "web-site" is not valid: expected letters and digits'],
    ['a group that is none', { group: 'shop' }, 'group "shop" is not valid: expected a domain with a dot'],
    ['a kind that is there', { kind: 'Greeting' }, 'src/api/greeting.ts would be overwritten'],
    [
      'a controller of no kind',
      { what: 'controller' },
      'src/api/site.ts does not exist: run npx kctl add resource Site first',
    ],
    [
      'a module that is not there',
      { main: '/none.ts' },
      'none.ts does not exist: name the module that defines the operator',
    ],
  ])('refuses %s, and writes nothing', (_what, given, message) => {
    const folder = project();
    const before = read(folder, main);
    expect(() => addToProject({ folder, what: 'resource', kind: 'Site', ...given })).toThrow(message);
    expect(read(folder, main)).toBe(before);
    expect(existsSync(join(folder, 'src', 'api', 'site.ts'))).toBe(false);
  });

  it('writes nothing in a dry run, and needs the group where the project has no record', () => {
    const folder = project();
    const before = read(folder, main);
    expect(addToProject({ folder, what: 'resource', kind: 'Site', dryRun: true })).toMatchObject({ changed: [main] });
    expect(read(folder, main)).toBe(before);
    expect(existsSync(join(folder, 'src', 'api', 'site.ts'))).toBe(false);
    rmSync(join(folder, '.kctl'), { recursive: true });
    expect(() => addToProject({ folder, what: 'resource', kind: 'Site' })).toThrow('group is required');
    addToProject({ folder, what: 'resource', kind: 'Site', group: 'shop.example.org' });
    expect(read(folder, 'src/api/site.ts')).toContain("group: 'shop.example.org'");
  });

  it('says what to add where the module is written in another way', () => {
    const folder = project();
    writeFileSync(
      join(folder, 'src', 'main.ts'),
      "import { operator } from './other.ts';\nawait operator.main(import.meta.url);\n",
    );
    expect(addToProject({ folder, what: 'resource', kind: 'Site' })).toMatchObject({
      changed: [],
      todo: ["add import { Site } from './api/site.ts'; and Site to the resources of defineOperator"],
    });
  });
});

describe('editMain', () => {
  const resource: MainEdit = { name: 'Site', from: './api/site.ts', as: 'resource' };
  const call: MainEdit = { name: 'addSite', from: './site.ts', as: 'call' };
  const edited = (text: string, edit: MainEdit): string => editMain(ts, text, edit).text;

  it.each([
    ['none', 'defineOperator({ setup: (m) => {} });', 'defineOperator({ resources: [Site],\nsetup: (m) => {} });'],
    [
      'an empty list',
      'defineOperator({ resources: [], setup() {} });',
      'defineOperator({ resources: [Site], setup() {} });',
    ],
    [
      'a list on lines, with a comma at its end',
      'defineOperator({\n  resources: [\n    A,\n    B, // why\n  ],\n});',
      'defineOperator({\n  resources: [\n    A,\n    B, Site, // why\n  ],\n});',
    ],
  ])('adds a kind where there is %s', (_what, before, after) => {
    expect(edited(before, resource)).toBe(`import { Site } from './api/site.ts';\n${after}`);
  });

  it.each([
    ['an empty method', 'defineOperator({\n  setup(manager) {},\n});', 'setup(manager) {\n    addSite(manager);\n  },'],
    [
      'a function with another name for it',
      'defineOperator({\n  setup: (m) => {\n    a(m);\n  },\n});',
      'a(m);\n    addSite(m);\n  },',
    ],
    [
      'a comment alone',
      'defineOperator({\n  async setup(m) {\n    // Later.\n  },\n});',
      '{\n    addSite(m);\n    // Later.\n  },',
    ],
    [
      'a block that returns something',
      'defineOperator({\n  setup(m) {\n    a(m);\n    return b(m);\n  },\n});',
      'a(m);\n    addSite(m);\n    return b(m);\n  },',
    ],
    [
      'a line with a comment',
      'defineOperator({\n  setup(m) {\n    a(m); // the first\n  },\n});',
      'a(m); // the first\n    addSite(m);\n  },',
    ],
  ])('adds a call to %s', (_what, before, after) => {
    expect(edited(before, call)).toContain(after);
  });

  it.each([
    ['resources of elsewhere', 'defineOperator({ resources: kinds, setup(m) {} });', resource],
    ['no setup, no resources', 'defineOperator(options);', resource],
    ['a setup of elsewhere', 'defineOperator({ setup });', call],
    ['a setup that takes the manager apart', 'defineOperator({ setup({ client }) {} });', call],
    ['a setup without a block', 'defineOperator({ setup: (m) => add(m) });', call],
  ])('leaves the module as it is with %s, and says what to add', (_what, before, edit) => {
    const { text, todo } = editMain(ts, before, edit);
    expect(text).toBe(before);
    expect(todo).toHaveLength(1);
  });

  it('changes nothing the second time, and keeps line ends of Windows', () => {
    const before =
      "import a from 'a';\r\ndefineOperator({\r\n  resources: [A],\r\n  setup(m) {\r\n    a(m);\r\n  },\r\n});\r\n";
    const once = edited(edited(before, resource), call);
    expect(once.replaceAll('\r\n', '')).not.toContain('\n');
    expect(edited(edited(once, call), resource)).toBe(once);
  });
});
