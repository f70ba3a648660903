// Operators for built-in kinds: what is found by which name, what is written, and what a mistake is told.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse } from 'yaml';
import { afterEach, describe, expect, it } from 'vitest';
import { builtInKinds } from '../src/built-in-kinds.js';
import { findBuiltIn } from '../src/find-built-in.js';
import { addToProject, createProject, runCreate, updateProject } from '../src/index.js';
import { renderProject } from '../src/render-project.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
/** A folder inside of the package, where the compiler resolves. */
function place(): string {
  const cache = join(import.meta.dirname, '..', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'built-in-'));
  folders.push(folder);
  return folder;
}
const read = (folder: string, path: string): string => readFileSync(join(folder, ...path.split('/')), 'utf8');
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));

async function create(cwd: string, ...given: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const io = {
    cwd,
    isInteractive: false,
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    npm: () => 0,
  };
  return { code: await runCreate(io, given), out, err };
}

interface Fact {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly served: boolean;
  readonly subresources?: readonly { readonly name: string }[];
}

describe('the built-in kinds', () => {
  const facts = JSON.parse(
    readFileSync(join(import.meta.dirname, '..', '..', '..', 'tooling', 'kube-facts', 'facts.json'), 'utf8'),
  ) as { readonly kinds: readonly Fact[] };

  it('are those that can be watched, with the scope and the status of discovery', () => {
    const expected = facts.kinds
      .filter(({ served, version, verbs }) => served && /^v\d+$/.test(version) && verbs.includes('watch'))
      .map(({ group, version, kind, namespaced, subresources = [] }) => {
        const hasStatus = subresources.some(({ name }) => name === 'status');
        return `${kind}.${version}.${group} ${String(namespaced)} ${String(hasStatus)}`;
      });
    const known = builtInKinds.map(
      ({ group, version, kind, isNamespaced, hasStatus }) =>
        `${kind}.${version}.${group} ${String(isNamespaced)} ${String(hasStatus)}`,
    );
    expect(known.filter((each) => !expected.includes(each))).toEqual([]);
    // A sample needs an object in its namespace, a server, a key or a certificate; two are not served by Kubernetes 1.36. A
    // write of a role or a binding, even of an annotation, needs the rights that it grants (escalation check).
    expect(expected.filter((each) => !known.includes(each)).sort()).toEqual([
      'APIService.v1.apiregistration.k8s.io false true',
      'ClusterRole.v1.rbac.authorization.k8s.io false false',
      'ClusterRoleBinding.v1.rbac.authorization.k8s.io false false',
      'ClusterTrustBundle.v1.certificates.k8s.io false false',
      'DeviceTaintRule.v1.resource.k8s.io false true',
      'Event.v1. true false',
      'Event.v1.events.k8s.io true false',
      'PodCertificateRequest.v1.certificates.k8s.io true true',
      'Role.v1.rbac.authorization.k8s.io true false',
      'RoleBinding.v1.rbac.authorization.k8s.io true false',
      'StorageVersionMigration.v1.storagemigration.k8s.io false true',
    ]);
  });

  it('have a sample in YAML that is the one of their test', () => {
    for (const { kind, version, group, name, isNamespaced, sample } of builtInKinds) {
      const files = renderProject({ name: 'shop', group: 'example.com', for: `${kind}.${version}.${group}` }, '^1.0.0');
      const path = [...files.keys()].find((each) => each.startsWith('deploy/samples/')) ?? '';
      const metadata = {
        name,
        ...(isNamespaced ? { namespace: 'default' } : {}),
        labels: { 'example.com/greet': 'World' },
      };
      const apiVersion = group === '' ? version : `${group}/${version}`;
      expect(parse(files.get(path) ?? ''), kind).toEqual({ apiVersion, kind, metadata, ...sample });
      for (const [file, text] of files)
        expect(text, `${kind} ${file}`).not.toMatch(/__[a-zA-Z-]+__|(\/\/|#)\?\w|\n\n$/);
    }
  });

  it.each([
    ['Deployment', 'apps/v1 Deployment'],
    ['Deployment.apps', 'apps/v1 Deployment'],
    ['Deployment.v1.apps', 'apps/v1 Deployment'],
    ['Ingress.networking.k8s.io', 'networking.k8s.io/v1 Ingress'],
    ['Ingress.v1.networking.k8s.io', 'networking.k8s.io/v1 Ingress'],
    ['Pod', '/v1 Pod'],
    ['Pod.v1.', '/v1 Pod'],
    ['HorizontalPodAutoscaler', 'autoscaling/v2 HorizontalPodAutoscaler'],
    ['HorizontalPodAutoscaler.v1.autoscaling', 'autoscaling/v1 HorizontalPodAutoscaler'],
    ['Deployment.batch', undefined],
    ['deployments', undefined],
    ['toString', undefined],
  ])('are found by %s', (name, expected) => {
    const found = findBuiltIn(name);
    expect(found === undefined ? undefined : `${found.group}/${found.version} ${found.kind}`).toBe(expected);
  });
});

describe('npm create @kctl -- --for', () => {
  it('writes an operator without a resource definition, and names the kind in its documents', async () => {
    const cwd = place();
    expect(await create(cwd, 'rollouts', '--for', 'Deployment.apps')).toMatchObject({ code: 0, err: '' });
    const folder = join(cwd, 'rollouts');
    expect(filesIn(folder)).not.toContain(join('src', 'api', 'deployment.ts'));
    expect(read(folder, 'src/controllers/deployment.ts')).toContain(
      "import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';",
    );
    expect(read(folder, 'src/main.ts')).not.toContain('resources');
    expect(read(folder, 'deploy/samples/deployment.yaml')).toContain('apiVersion: apps/v1\nkind: Deployment\n');
    expect(read(folder, 'README.md')).toContain(
      'An operator in TypeScript for the kind Deployment of apps/v1, made by',
    );
    for (const path of ['README.md', 'AGENTS.md'])
      expect(read(folder, path)).not.toMatch(/src\/api|kctl install|schema/);
    const { dependencies } = JSON.parse(read(folder, 'package.json')) as { dependencies: object };
    expect(Object.keys(dependencies)).toEqual(['@kctl/apimachinery', '@kctl/operator', '@kctl/runtime']);
  });

  it('is recorded, so that an update changes nothing', async () => {
    const cwd = place();
    await create(cwd, 'rollouts', '--for', 'Deployment.apps', '--group', 'shop.example');
    const folder = join(cwd, 'rollouts');
    expect(JSON.parse(read(folder, '.kctl/scaffold.json'))).toMatchObject({
      name: 'rollouts',
      group: 'shop.example',
      for: 'Deployment.apps',
    });
    const nothing = { updated: [], conflicts: [], removed: [], kept: [], renamed: [], undecided: [] };
    expect(updateProject({ folder })).toEqual(nothing);
  });

  it.each<[string, readonly string[], RegExp]>([
    ['both kinds', ['--kind', 'Website', '--for', 'Pod'], /^"kind" and "for" are both given: give "kind" for a custom/],
    [
      'a misspelled kind',
      ['--for', 'Deploymnt.apps'],
      /^for "Deploymnt\.apps" is not .* \(did you mean Deployment\.apps\?\)$/m,
    ],
    ['a lower-case kind', ['--for', 'deployment.apps'], /\(did you mean Deployment\.apps\?\)$/m],
    ['a version that is not served', ['--for', 'Deployment.v1beta1.apps'], /\(did you mean Deployment\.v1\.apps\?\)$/m],
    [
      'a custom kind',
      ['--for', 'Certificate.cert-manager.io'],
      /expected Kind, Kind\.group or Kind\.version\.group of a kind/,
    ],
    ['an empty kind', ['--for', ''], /^for "" is not a built-in kind that can be scaffolded: expected Kind/],
    ['no kind', ['--for'], /argument missing/],
  ])('names %s, and writes nothing', async (_what, given, message) => {
    const cwd = place();
    const made = await create(cwd, 'shop', ...given);
    expect(made.err).toMatch(message);
    expect(made).toMatchObject({ code: 2, out: '' });
    expect(existsSync(join(cwd, 'shop'))).toBe(false);
  });

  it('is named beside a custom resource with the name of a built-in kind', async () => {
    const { out } = await create(place(), 'shop', '--kind', 'Deployment');
    expect(out).toContain(
      'Deployment is a custom resource of example.com; --for Deployment.apps makes an operator for the built-in kind\n',
    );
    expect((await create(place(), 'shop', '--kind', 'Website')).out).not.toContain('--for');
  });
});

describe('kctl add controller of a built-in kind', () => {
  const project = (subject: { readonly kind: string } | { readonly for: string }): string => {
    const folder = join(place(), 'shop');
    createProject({ folder, name: 'shop', group: 'example.com', ...subject });
    return folder;
  };

  it('adds a controller, a test and a sample, and calls it in main', () => {
    const folder = project({ kind: 'Greeting' });
    expect(addToProject({ folder, what: 'controller', kind: 'Deployment.apps' })).toEqual({
      written: ['deploy/samples/deployment.yaml', 'src/controllers/deployment.ts', 'test/deployment.test.ts'],
      changed: ['src/main.ts'],
      todo: [],
    });
    expect(read(folder, 'src/main.ts')).toContain('    addDeploymentController(manager);\n');
    expect(read(folder, 'src/main.ts')).toContain('  resources: [Greeting],\n');
  });

  it('is of the custom resource if the project has one of that name', () => {
    const folder = project({ kind: 'Greeting' });
    addToProject({ folder, what: 'resource', kind: 'Deployment' });
    addToProject({ folder, what: 'controller', kind: 'Deployment' });
    expect(read(folder, 'src/controllers/deployment.ts')).toContain("from '../api/deployment.ts'");
  });

  it('names the packages that a first custom resource needs', () => {
    const folder = project({ for: 'Deployment' });
    expect(addToProject({ folder, what: 'resource', kind: 'Website' })).toMatchObject({
      changed: ['src/main.ts'],
      todo: ['run npm install @kctl/crd zod, which define kinds'],
    });
    expect(read(folder, 'src/main.ts')).toContain('  resources: [Website],\n  setup(manager) {\n');
  });

  it.each<[string, 'resource' | 'controller' | 'webhook', string, string]>([
    ['a second time', 'controller', 'Deployment.apps', 'would be overwritten: Deployment has a controller'],
    ['a second time, by its kind', 'controller', 'Deployment', 'would be overwritten: Deployment has a controller'],
    ['a misspelled kind', 'controller', 'Deploymnt', 'first, or npx kctl add controller Deployment for the built-in'],
    ['a misspelled group', 'controller', 'Deployment.app', '(did you mean Deployment.apps?)'],
    [
      'a custom resource with its group',
      'controller',
      'Website.example.com',
      ': run npx kctl add controller Website for that of src/api',
    ],
    [
      'a definition',
      'resource',
      'Deployment.apps',
      'no resource can be added: run npx kctl add controller Deployment.apps',
    ],
    [
      'a webhook',
      'webhook',
      'Deployment.apps',
      'no webhook can be added: call webhookManagedBy(manager).for(Deployment)',
    ],
    ['a path', 'controller', '../../x', 'kind "../../x" is not a built-in kind'],
    ['a resource that is a path', 'resource', '../../x', 'kind "../../x" is not valid: expected letters and digits'],
  ])('names %s, and writes nothing', (_what, what, kind, message) => {
    const folder = project({ for: 'Deployment.apps' });
    addToProject({ folder, what: 'resource', kind: 'Website' });
    const before = filesIn(folder).map((path) => [path, read(folder, path)]);
    expect(() => addToProject({ folder, what, kind })).toThrow(message);
    expect(filesIn(folder).map((path) => [path, read(folder, path)])).toEqual(before);
  });
});
