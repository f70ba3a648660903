import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { defineKind } from '@kctl/apimachinery';
import { createEnvironment } from '@kctl/testing';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { isChartTemplate } from '../src/manifests/chart.js';
import { boundedName } from '../src/manifests/names.js';
import { kctl, kctlWith, project, type Result } from './project.js';

const objectsIn = (file: string): Record<string, unknown>[] =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document): Record<string, unknown> => document.toJS());

describe('kctl generate', () => {
  it('writes manifests that follow from the operator; a second run changes nothing', async () => {
    const folder = project();
    const first = await kctl(folder, 'generate');
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(first.out).toContain('wrote deploy/rbac/rbac.yaml');
    const second = await kctl(folder, 'generate', '--json');
    expect(JSON.parse(second.out)).toMatchObject({ written: [], removed: [] });
    const deploy = join(folder, 'deploy');
    expect(objectsIn(join(deploy, 'crds', 'websites.example.com.yaml'))[0]).toMatchObject({
      kind: 'CustomResourceDefinition',
    });
    const role = objectsIn(join(deploy, 'rbac', 'rbac.yaml')).find(({ kind }) => kind === 'ClusterRole');
    expect(role?.['rules']).toContainEqual({
      apiGroups: ['example.com'],
      resources: ['websites/status'],
      verbs: ['patch'],
    });
    expect(role?.['rules']).toContainEqual({
      apiGroups: [''],
      resources: ['configmaps'],
      verbs: ['get', 'list', 'watch', 'create', 'patch'],
    });
    const [deployment] = objectsIn(join(deploy, 'manager', 'manager.yaml'));
    expect(deployment).toMatchObject({
      kind: 'Deployment',
      spec: {
        template: {
          spec: {
            terminationGracePeriodSeconds: 45,
            securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
            containers: [{ image: 'registry.example.com/websites:1', args: ['--leader-elect'] }],
          },
        },
      },
    });
    // One that asks for a replica that stays would block each drain of a chart with one replica.
    const budget = objectsIn(join(deploy, 'manager', 'manager.yaml')).find(
      ({ kind }) => kind === 'PodDisruptionBudget',
    );
    expect(budget?.['spec']).toEqual({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: { 'app.kubernetes.io/name': 'websites' } },
    });
    const kinds = objectsIn(join(deploy, 'webhook', 'webhook.yaml')).map(({ kind }) => kind);
    expect(kinds).toEqual(['Service', 'Issuer', 'Certificate', 'ValidatingWebhookConfiguration']);
    const [kustomization] = objectsIn(join(deploy, 'kustomization.yaml'));
    for (const path of kustomization?.['resources'] as string[])
      expect(existsSync(join(deploy, path)), path).toBe(true);
    const templates = readdirSync(join(deploy, 'chart', 'templates'));
    // By these names a later generation knows what it may remove.
    expect(templates.filter((name) => !isChartTemplate(name))).toEqual([]);
    for (const template of templates)
      expect(readFileSync(join(deploy, 'chart', 'templates', template), 'utf8'), template).not.toContain(
        'websites-system',
      );
    expect(readFileSync(join(deploy, 'chart', 'templates', 'crd-0.yaml'), 'utf8')).toContain('{{ "{{" }} braces }}');
  });

  it('removes what it generated and no longer does, and no file of the author beside it', async () => {
    const folder = project();
    await kctl(folder, 'generate');
    const paths = ['crds', 'rbac', 'chart/templates'].map((each) => join(folder, 'deploy', ...each.split('/')));
    const [crds = '', rbac = '', templates = ''] = paths;
    for (const path of paths) writeFileSync(join(path, 'own.yaml'), 'kind: ConfigMap\n');
    copyFileSync(join(rbac, 'rbac.yaml'), join(crds, 'olds.example.com.yaml'));
    copyFileSync(join(rbac, 'rbac.yaml'), join(folder, 'deploy', 'components', 'service-monitor', 'old.yaml'));
    copyFileSync(join(templates, 'crd-0.yaml'), join(templates, 'crd-7.yaml'));
    const { out } = await kctl(folder, 'generate', '--json');
    expect(JSON.parse(out)).toMatchObject({
      written: [],
      removed: [
        'deploy/crds/olds.example.com.yaml',
        'deploy/components/service-monitor/old.yaml',
        'deploy/chart/templates/crd-7.yaml',
      ],
    });
    for (const path of paths) expect(existsSync(join(path, 'own.yaml')), path).toBe(true);
  });

  it('quotes texts that kubectl and Helm would read as something else', async () => {
    const folder = project();
    const main = join(folder, 'src', 'main.ts');
    const modes = ['on', 'Off', 'y', '1_000'];
    const kind = `defineResource({
  group: 'example.com',
  kind: 'Switch',
  plural: 'switches',
  versions: { v1: { spec: fromJsonSchema({ type: 'object', properties: { n: { type: 'string', enum: ${JSON.stringify(modes)} } } }) } },
})`;
    writeFileSync(
      main,
      `import { defineResource, fromJsonSchema } from '@kctl/crd';
import { defineOperator } from '@kctl/operator';
export const operator = defineOperator({ name: 'on', resources: [${kind}], setup: () => undefined });
`,
    );
    expect(await kctl(folder, 'generate')).toMatchObject({ code: 0, err: '' });
    const deploy = join(folder, 'deploy');
    const asKubectl = (...path: readonly string[]): unknown[] =>
      parseAllDocuments(readFileSync(join(deploy, ...path), 'utf8'), { version: '1.1' }).map((each) => each.toJS());
    const found = JSON.stringify(asKubectl('crds', 'switches.example.com.yaml'));
    expect(found).toContain(`"properties":{"n":{"enum":${JSON.stringify(modes)}`);
    expect(asKubectl('manager', 'manager.yaml')[0]).toMatchObject({ metadata: { name: 'on' } });
    expect(readFileSync(join(deploy, 'chart', 'templates', 'crd-0.yaml'), 'utf8')).toContain('- "Off"\n');
    const chart = readFileSync(join(deploy, 'chart', 'templates', 'deployment.yaml'), 'utf8');
    expect(chart).not.toMatch(/[:-] on$/m);
  });

  it('does not write over a file of the author unless it is asked to', async () => {
    const folder = project();
    const deploy = join(folder, 'deploy');
    mkdirSync(deploy);
    const file = join(deploy, 'kustomization.yaml');
    writeFileSync(file, 'resources: [mine.yaml]\n');
    const refused = await kctl(folder, 'generate');
    expect(refused).toEqual({
      code: 1,
      out: '',
      err: 'kctl: deploy/kustomization.yaml was not written by kctl, and nothing was changed: move it away, or have it overwritten by npx kctl generate --overwrite\n',
    });
    expect(readdirSync(deploy)).toEqual(['kustomization.yaml']);
    expect(readFileSync(file, 'utf8')).toBe('resources: [mine.yaml]\n');
    // Other groups have nothing to do with it.
    expect(await kctl(folder, 'generate', 'rbac')).toMatchObject({ code: 0 });
    expect(await kctl(folder, 'generate', '--overwrite')).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toContain('manager/manager.yaml');
    // What it wrote may be edited, and an empty file has nothing to lose.
    writeFileSync(file, `${readFileSync(file, 'utf8')}# edited\n`);
    writeFileSync(join(deploy, 'rbac', 'rbac.yaml'), '\n');
    expect((await kctl(folder, 'generate')).out).toMatch(
      /^wrote deploy\/rbac\/rbac.yaml\nwrote deploy\/kustomization.yaml\n/,
    );
  });

  it('does not write over a chart of the author', async () => {
    const folder = project();
    const templates = join(folder, 'deploy', 'chart', 'templates');
    mkdirSync(templates, { recursive: true });
    writeFileSync(join(templates, '..', 'Chart.yaml'), 'name: mine\n');
    for (const name of ['deployment.yaml', 'crd-7.yaml']) writeFileSync(join(templates, name), 'kind: Mine\n');
    const { code, err } = await kctl(folder, 'generate', 'chart');
    expect(code).toBe(1);
    expect(err).toContain('deploy/chart/Chart.yaml, deploy/chart/templates/deployment.yaml were not written by kctl');
    expect(readdirSync(templates).sort()).toEqual(['crd-7.yaml', 'deployment.yaml']);
  });

  it('--check names what is out of date, and writes nothing', async () => {
    const folder = project();
    await kctl(folder, 'generate', 'rbac');
    expect(await kctl(folder, 'generate', 'rbac', '--check')).toMatchObject({ code: 0 });
    const file = join(folder, 'deploy', 'rbac', 'rbac.yaml');
    writeFileSync(file, 'edited');
    const stale = await kctl(folder, 'generate', 'rbac', '--check');
    expect(stale).toMatchObject({
      code: 3,
      err: 'kctl: generated files are out of date: deploy/rbac/rbac.yaml: run npx kctl generate and commit what it writes\n',
    });
    expect(readFileSync(file, 'utf8')).toBe('edited');
    const json = await kctl(folder, 'generate', 'rbac', '--check', '--json');
    expect(json).toMatchObject({ code: 3, err: stale.err });
    expect(JSON.parse(json.out)).toEqual({ written: ['deploy/rbac/rbac.yaml'], unchanged: [], removed: [] });
  });

  it('takes a group in the singular, and the module as an argument', async () => {
    const folder = project();
    renameSync(join(folder, 'src', 'main.ts'), join(folder, 'src', 'other.ts'));
    const found = await kctl(folder, 'generate', 'crd', './src/other.ts');
    expect(found).toEqual({ code: 0, out: 'wrote deploy/crds/websites.example.com.yaml\n', err: '' });
    expect(await kctl(folder, 'generate', 'webhook', './src/other.ts', '--json')).toMatchObject({ code: 0 });
  });

  it('takes line ends of Windows for what they are', async () => {
    const folder = project();
    await kctl(folder, 'generate', 'rbac');
    const file = join(folder, 'deploy', 'rbac', 'rbac.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('\n', '\r\n'));
    expect(await kctl(folder, 'generate', 'rbac', '--check')).toMatchObject({ code: 0 });
  });

  it('gives the chart the version of package.json, and names one that is not valid', async () => {
    const folder = project();
    const file = join(folder, 'package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as object;
    const chart = (): Record<string, unknown> | undefined =>
      objectsIn(join(folder, 'deploy', 'chart', 'Chart.yaml'))[0];
    await kctl(folder, 'generate', 'chart');
    expect(chart()).toMatchObject({ version: '0.1.0', appVersion: '0.1.0' });
    writeFileSync(file, JSON.stringify({ ...manifest, version: '1.2.3-rc.1' }));
    await kctl(folder, 'generate', 'chart');
    expect(chart()).toMatchObject({ version: '1.2.3-rc.1', appVersion: '1.2.3-rc.1' });
    writeFileSync(file, JSON.stringify({ ...manifest, version: 'v1' }));
    expect((await kctl(folder, 'generate')).err).toContain('version "v1" is not valid: expected one such as 1.0.0');
  });

  it('kinds: writes typed modules from CRDs in files', async () => {
    const folder = project();
    await kctl(folder, 'generate', 'crds');
    const found = await kctl(folder, 'generate', 'kinds', '--from', 'deploy/crds');
    expect(found).toMatchObject({ code: 0, out: 'wrote src/kinds/example.com/v1.ts\n' });
    expect(readFileSync(join(folder, 'src', 'kinds', 'example.com', 'v1.ts'), 'utf8')).toContain(
      'export const Website',
    );
  });
});

describe('on a server', () => {
  it('installs, deploys, looks, and takes it away again', async () => {
    await using environment = await createEnvironment({ server: 'embedded', embedded: { authorization: 'RBAC' } });
    const folder = project();
    const cluster = ['--kubeconfig', environment.kubeconfigPath];
    const before = await kctl(folder, 'doctor', ...cluster);
    expect(before).toMatchObject({ code: 1, err: 'kctl: 1 problem found\n' });
    expect(before.out).toContain('the kind Website (websites.example.com) is not installed: run npx kctl install');

    const counted = await kctl(folder, 'install', '--dry-run', '--json', ...cluster);
    expect(JSON.parse(counted.out)).toEqual({
      dryRun: true,
      changes: [
        {
          action: 'applied',
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'CustomResourceDefinition',
          name: 'websites.example.com',
        },
      ],
    });
    const dry = await kctl(folder, 'install', '--dry-run', ...cluster);
    expect(dry).toMatchObject({ code: 0, err: 'applied customresourcedefinition/websites.example.com (dry run)\n' });
    expect((await environment.client.list(CustomResourceDefinition)).items).toEqual([]);

    expect(await kctl(folder, 'install', ...cluster)).toMatchObject({ code: 0 });
    const rights = await kctl(folder, 'doctor', '--as-operator', ...cluster);
    expect(rights.code).toBe(1);
    expect(rights.out).toContain(
      'system:serviceaccount:websites-system:websites may not patch websites.example.com/status, which for(Website) needs: apply what npx kctl generate rbac writes',
    );
    const after = await kctl(folder, 'doctor', ...cluster);
    expect(after, after.out).toMatchObject({ code: 0 });
    expect(await kctl(folder, 'uninstall', ...cluster)).toMatchObject({ code: 0 });
    expect((await environment.client.list(CustomResourceDefinition)).items).toEqual([]);
  });

  it('does not delete objects with their kind unless it is asked to', async () => {
    await using environment = await createEnvironment({ server: 'embedded' });
    const folder = project();
    const cluster = ['--kubeconfig', environment.kubeconfigPath];
    await kctl(folder, 'install', ...cluster);
    const Website = defineKind()({ group: 'example.com', version: 'v1', kind: 'Website', scope: 'Namespaced' });
    const body = { metadata: { namespace: 'default', name: 'a' }, spec: { html: 'x' } };
    await environment.client.create(Website, body);
    expect(await kctl(folder, 'uninstall', ...cluster)).toMatchObject({
      code: 1,
      err: 'kctl: 1 object of websites.example.com would be deleted with its kind: delete it first, or add --delete-objects\n',
    });
    const gone = await kctl(folder, 'uninstall', '--delete-objects', '--json', ...cluster);
    const { changes } = JSON.parse(gone.out) as { changes: object[] };
    expect(changes).toEqual([
      { action: 'deleted', apiVersion: 'example.com/v1', kind: 'Website', namespace: 'default', name: 'a' },
      expect.objectContaining({ action: 'deleted', kind: 'CustomResourceDefinition' }),
    ]);
    expect(JSON.parse((await kctl(folder, 'undeploy', '--json', ...cluster)).out)).toEqual({
      dryRun: false,
      changes: [],
    });
    expect((await environment.client.list(Deployment)).items).toEqual([]);
  });
});

describe('a newcomer', () => {
  it.each<[string, readonly string[], number, RegExp]>([
    [
      'an unknown command',
      ['instal'],
      2,
      /^kctl: unknown command 'instal' \(Did you mean install\?\): see npx kctl --help\n$/,
    ],
    [
      'an unknown option',
      ['generate', '--chek'],
      2,
      /^kctl: unknown option '--chek' \(Did you mean --check\?\): see npx kctl generate --help\n$/,
    ],
    [
      'an unknown group of files',
      ['generate', 'rabc'],
      2,
      /what "rabc" is not valid: expected one of all, manifests, kinds, crds, .*\(did you mean rbac\?\)/,
    ],
    ['no source of kinds', ['generate', 'kinds'], 2, /needs --from: a file, a folder, a URL or "cluster"/],
    [
      'a source of kinds before the word kinds, which it takes in',
      ['generate', '--from', 'crds', 'kinds'],
      2,
      /^kctl: --from of npx kctl generate all: these are for npx kctl generate kinds --from <source>\n$/,
    ],
    [
      'an empty folder',
      ['generate', '--output', ''],
      2,
      /^kctl: option '--output <folder>' has an empty value: leave it out, or give one\n$/,
    ],
    ['an empty context', ['dev', '--context', ''], 2, /^kctl: option '--context <name>' has an empty value/],
    [
      'an empty workload of a command below another',
      ['inspect', '--namespace', '', 'why', 'website/a/b'],
      2,
      /^kctl: option '--namespace <name>' has an empty value/,
    ],
    [
      'a module that is not there',
      ['generate', '--main', 'src/other.ts'],
      1,
      /src\/other\.ts does not exist: name the module/,
    ],
    [
      'a kubeconfig that is not there',
      ['install', '--kubeconfig', '/does/not/exist'],
      1,
      /^kctl: .*\/does\/not\/exist/,
    ],
  ])('that gives %s reads a sentence', async (_what, given, code, message) => {
    const result = await kctl(project(), ...given);
    expect(result.code).toBe(code);
    expect(result.err).toMatch(message);
    expect(result.err).not.toMatch(/^\s+at /m);
  });

  it('is told where a project is missing', async () => {
    const folder = project();
    rmSync(join(folder, 'package.json'));
    expect((await kctl(folder, 'generate')).err).toContain(
      'run kctl in the folder of an operator, or make one by npm create @kctl',
    );
  });

  it('reads help with an example for each command', async () => {
    const { out } = await kctl(project(), '--help');
    const names = [...out.matchAll(/^ {2}(\w+) /gm)].flatMap(([, name]) =>
      name === undefined || name === 'help' ? [] : [name],
    );
    expect(names).toEqual([
      'add',
      'generate',
      'install',
      'uninstall',
      'deploy',
      'undeploy',
      'plan',
      'dev',
      'build',
      'update',
      'doctor',
      'inspect',
      'completion',
    ]);
    for (const name of names) {
      const help = await kctl(project(), name, '--help');
      expect(help).toMatchObject({ code: 0, err: '' });
      expect(help.out, name).toContain('Example:');
      // A script is what completion prints.
      if (name !== 'completion') expect(help.out, name).toContain('--json');
    }
  });
});

describe('kctl build', () => {
  it('writes one file that runs; what cannot be bundled is named with its line', async () => {
    const folder = project();
    const main = join(folder, 'src', 'main.ts');
    writeFileSync(main, "import { basename } from 'node:path';\nconsole.log(basename('/bundled'));\n");
    expect(await kctl(folder, 'build')).toEqual({ code: 0, out: 'wrote dist/main.mjs\n', err: '' });
    const ran = spawnSync(process.execPath, [join(folder, 'dist', 'main.mjs')], { encoding: 'utf8' });
    expect(ran.stdout).toBe('bundled\n');
    const json = await kctl(folder, 'build', '--json', '--outfile', 'out/x.mjs');
    expect(JSON.parse(json.out)).toEqual({
      written: ['out/x.mjs', 'out/x.mjs.map'],
      bytes: readFileSync(join(folder, 'out', 'x.mjs')).length,
      warnings: [],
    });
    writeFileSync(main, "import './missing.ts';\n");
    expect(await kctl(folder, 'build')).toEqual({
      code: 1,
      out: '',
      err: 'kctl: src/main.ts cannot be bundled: src/main.ts:1: Could not resolve "./missing.ts"\n',
    });
    expect((await kctl(folder, 'build', '--main', 'none.ts')).err).toBe(
      'kctl: none.ts does not exist: name the module by --main\n',
    );
  });

  it('maps the own files alone, unless it is told otherwise', async () => {
    const folder = project();
    const library = join(folder, 'node_modules', 'library');
    mkdirSync(library, { recursive: true });
    writeFileSync(join(library, 'package.json'), '{ "name": "library", "type": "module", "exports": "./index.js" }');
    writeFileSync(
      join(library, 'index.js'),
      'export function callBack(work) {\n  return work();\n}\nexport function fail() {\n  throw new Error("no");\n}\n',
    );
    writeFileSync(
      join(folder, 'src', 'main.ts'),
      `import { callBack, fail } from 'library';
interface Work { readonly done: boolean }
function work(): Work {
  if (process.pid > 0) fail();
  return { done: true };
}
try {
  callBack(work);
} catch (error) {
  const frames = ((error as Error).stack ?? '').split('\\n').filter((line) => !line.includes('node:'));
  console.log(JSON.stringify(frames));
}
`,
    );
    const frames = async (...given: readonly string[]): Promise<readonly string[]> => {
      expect(await kctl(folder, 'build', ...given)).toMatchObject({ code: 0, err: '' });
      const file = join(folder, 'dist', 'main.mjs');
      const ran = spawnSync(process.execPath, ['--enable-source-maps', file], { encoding: 'utf8' });
      const stack = JSON.parse(ran.stdout) as readonly string[];
      return stack
        .slice(1, 5)
        .map((line) => /at (\S+) .*[\\/](src|dist|library)[\\/](\S+?):(\d+):/.exec(line)?.slice(1).join(' ') ?? line);
    };
    const map = join(folder, 'dist', 'main.mjs.map');
    expect(await frames()).toEqual([
      'fail dist main.mjs 2',
      'work src main.ts 4',
      'callBack dist main.mjs 2',
      '<anonymous> src main.ts 8',
    ]);
    expect(JSON.parse(readFileSync(map, 'utf8'))).toMatchObject({
      sources: ['../src/main.ts'],
      sourcesContent: [readFileSync(join(folder, 'src', 'main.ts'), 'utf8')],
    });
    expect(await frames('--source-map', 'all')).toEqual([
      'fail library index.js 5',
      'work src main.ts 4',
      'callBack library index.js 2',
      '<anonymous> src main.ts 8',
    ]);
    expect((await frames('--source-map', 'none'))[1]).toBe('work dist main.mjs 2');
    expect(existsSync(map)).toBe(false);
    expect((await kctl(folder, 'build', '--source-map', 'some')).err).toContain('Allowed choices are own, all, none');
  });
});

describe.skipIf(process.platform === 'win32')('kctl build --image', () => {
  const building = async (engine: string | undefined, ...given: readonly string[]): Promise<Result> => {
    const folder = project();
    writeFileSync(join(folder, 'src', 'main.ts'), 'console.log(1);\n');
    writeFileSync(join(folder, 'Dockerfile'), 'FROM scratch\n');
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    if (engine !== undefined) writeFileSync(join(bin, 'podman'), engine, { mode: 0o755 });
    return await kctlWith({ PATH: bin }, folder, 'build', ...given);
  };

  it('asks the container engine that is there', async () => {
    const engine = '#!/bin/sh\necho "$1 $2 $3"\n';
    const built = await building(engine, '--image');
    expect(built).toMatchObject({ code: 0, out: 'wrote dist/main.mjs\nbuilt registry.example.com/websites:1\n' });
    expect(built.err).toBe(
      'building registry.example.com/websites:1 by podman\nbuild --tag registry.example.com/websites:1\n',
    );
    const json = await building(engine, '--image', 'site:2', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ image: 'site:2', warnings: [] });
  });

  it('says what is missing, and what failed', async () => {
    expect((await building(undefined, '--image')).err).toBe(
      'kctl: there is no container engine: install one of docker, podman, nerdctl, buildah, or build the Dockerfile where there is one\n',
    );
    expect(await building('#!/bin/sh\necho no space >&2\nexit 3\n', '--image')).toEqual({
      code: 1,
      out: '',
      err: 'building registry.example.com/websites:1 by podman\nno space\nkctl: podman build of registry.example.com/websites:1 ended with code 3: see its output\n',
    });
  });
});

/** A project with a @kctl/create of its own. */
function withCreate(text: string): string {
  const folder = project();
  const own = join(folder, 'node_modules', '@kctl', 'create');
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'package.json'), '{"name":"@kctl/create","type":"module","exports":"./index.js"}');
  writeFileSync(join(own, 'index.js'), text);
  return folder;
}

describe('kctl add', () => {
  const adds =
    "export const addToProject = ({ what, kind, group, dryRun, main }) => ({ written: [[what, kind, group, dryRun].join()], changed: ['src/main.ts'], todo: main.endsWith('main.ts') ? [] : ['edit ' + main] });";

  it('asks the @kctl/create that the project has', async () => {
    const folder = withCreate(adds);
    expect(await kctl(folder, 'add', 'controller', 'Page')).toEqual({
      code: 0,
      out: 'wrote controller,Page,,false\nchanged src/main.ts\nNext: npm test, and npx kctl generate, which writes its manifests and rights\n',
      err: '',
    });
    expect(await kctl(folder, 'add', 'resource', 'Page', '--group', 'a.b', '--dry-run')).toEqual({
      code: 0,
      out: 'wrote resource,Page,a.b,true (dry run)\nchanged src/main.ts (dry run)\n',
      err: '',
    });
    const other = await kctl(folder, 'add', 'webhook', 'Page', '--main', 'src/other.ts', '--json');
    expect(JSON.parse(other.out)).toMatchObject({ changed: ['src/main.ts'] });
    expect(other.out).toContain('"todo":["edit ');
  });

  it.each<[string, readonly string[], string, [number, RegExp]]>([
    [
      'no @kctl/create',
      ['resource', 'Page'],
      '',
      [1, /@kctl\/create is too old to add a resource: run npm install --save-dev @kctl\/create@latest\n$/],
    ],
    [
      'what cannot be added',
      ['resurce', 'Page'],
      adds,
      [
        2,
        /what "resurce" is not valid: expected one of resource, controller, webhook \(did you mean resource\?\): see npx kctl add --help/,
      ],
    ],
    ['no kind', ['resource'], adds, [2, /<Kind> is missing: see npx kctl add --help/]],
    [
      'what is not valid',
      ['resource', 'page'],
      'export const addToProject = () => { throw new TypeError("kind is not valid"); };',
      [2, /^kctl: kind is not valid\n$/],
    ],
    [
      'what is there',
      ['resource', 'Page'],
      'export const addToProject = () => { throw new Error("it is there"); };',
      [1, /^kctl: it is there\n$/],
    ],
  ])('names %s', async (_what, given, text, [code, message]) => {
    const result = await kctl(withCreate(text), 'add', ...given);
    expect(result.err).toMatch(message);
    expect(result).toMatchObject({ code, out: '' });
  });
});

describe('kctl update', () => {
  it('asks the @kctl/create that the project has', async () => {
    const folder = withCreate(
      "export const updateProject = ({ dryRun }) => ({ updated: ['a'], removed: ['b'], kept: ['c'], conflicts: dryRun ? [] : ['d', 'e'] });",
    );
    expect(await kctl(folder, 'update', '--dry-run')).toEqual({
      code: 0,
      out: 'updated a (dry run)\nremoved b (dry run)\nkept c (dry run)\n',
      err: '',
    });
    expect(await kctl(folder, 'update')).toMatchObject({
      code: 3,
      err: "kctl: you and kctl have changed the same lines of d, e: both stand there, between markers as git's\n",
    });
  });

  it('prints what became of the files as JSON, also where a person has to decide', async () => {
    const folder = withCreate(
      "export const updateProject = () => ({ updated: ['a'], removed: [], kept: [], conflicts: ['d'] });",
    );
    const found = await kctl(folder, 'update', '--json');
    expect(found.code).toBe(3);
    expect(JSON.parse(found.out)).toEqual({ dryRun: false, updated: ['a'], removed: [], kept: [], conflicts: ['d'] });
  });

  it('says which values stay as the author has them, and what to do after a change of package.json', async () => {
    const folder = withCreate(
      "export const updateProject = () => ({ updated: ['package.json'], removed: [], kept: [], conflicts: [], undecided: ['package.json: a stays 1'] });",
    );
    expect(await kctl(folder, 'update')).toEqual({
      code: 3,
      out: 'updated package.json\nNext: npm install\n',
      err: 'kctl: package.json: a stays 1\n',
    });
  });

  it('says what to install', async () => {
    expect((await kctl(project(), 'update')).err).toContain(
      '@kctl/create is not installed: run npm install --save-dev',
    );
    expect((await kctl(withCreate('export const other = 1;'), 'update')).err).toContain('@kctl/create is too old');
    const broken = withCreate("export const updateProject = () => { throw new Error('no record'); };");
    expect(await kctl(broken, 'update')).toEqual({ code: 1, out: '', err: 'kctl: no record\n' });
  });
});

describe('names', () => {
  it('are cut to 63 characters, and stay apart', () => {
    const long = 'a'.repeat(63);
    expect(boundedName(long, '-metrics')).toHaveLength(63);
    expect(boundedName(long, '-metrics')).not.toBe(boundedName(`${'a'.repeat(62)}b`, '-metrics'));
    expect(boundedName('web', '-metrics')).toBe('web-metrics');
  });
});
