/**
 * What `npm create @kctl` and `kctl generate` write, judged by others: a server-side dry run under the restricted Pod
 * Security profile, helm lint and helm template, and kustomize. KCTL_TEST_SERVER=real takes a kube-apiserver.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled, run, type Finished } from '../src/command.js';
import { helmProgram, kubectlProgram } from '../src/programs.js';
import { objectsIn, scaffold, type ManifestObject, type Scaffold } from '../src/scaffold.js';
import { startPeer, type Peer } from '../src/server.js';

const target = process.env['KCTL_TEST_SERVER'] === 'real' ? 'real' : 'embedded';
// kubectl and helm are built from their modules.
const hasGo = isInstalled('go', ['version']);

/** Kinds of others that the manifests have, as far as a dry run needs them. */
const foreign: readonly (readonly [group: string, kind: string, plural: string])[] = [
  ['cert-manager.io', 'Issuer', 'issuers'],
  ['cert-manager.io', 'Certificate', 'certificates'],
  ['monitoring.coreos.com', 'ServiceMonitor', 'servicemonitors'],
];
const foreignCrds = foreign.map(([group, kind, plural]) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}));

/** Everything that platform teams set. */
const allValues = {
  image: { reference: 'registry.example.com/team/greeter@sha256:0', pullPolicy: 'Always' },
  replicas: 3,
  resources: { requests: { cpu: '1' }, limits: { memory: '1Gi' } },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: {
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', labelSelector: {} }] },
  },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
  imagePullSecrets: [{ name: 'pull' }],
  env: [{ name: 'MODE', value: 'safe' }],
  volumes: [{ name: 'scratch', emptyDir: {} }],
  volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
  serviceMonitor: { enabled: true },
};

interface PodTemplate {
  readonly template: { readonly spec: Readonly<Record<string, unknown>> & { readonly containers: readonly object[] } };
}
const podOf = (deployment: ManifestObject | undefined): PodTemplate['template']['spec'] =>
  (deployment?.spec as PodTemplate).template.spec;

describe.skipIf(!hasGo)(`a scaffolded project, judged by kubectl and helm on the ${target} server`, () => {
  let peer: Peer;
  const projects: Scaffold[] = [];
  const kubectl = (args: readonly string[], input?: string): Promise<Finished> =>
    run(kubectlProgram(), [`--cache-dir=${peer.folder}/cache`, ...args], {
      env: { KUBECONFIG: peer.kubeconfigPath },
      ...(input === undefined ? {} : { input }),
    });
  const helm = (...args: readonly string[]): Promise<Finished> =>
    run(helmProgram(), args, { env: { HOME: peer.folder, HELM_CACHE_HOME: `${peer.folder}/helm` } });
  const must = async (running: Promise<Finished>): Promise<string> => {
    const { code, output } = await running;
    expect(code, output).toBe(0);
    return output;
  };

  beforeAll(async () => {
    helmProgram(); // built here, where there is time: minutes with an empty cache of Go
    peer = await startPeer(target);
    projects.push(await scaffold('greeter'), await scaffold('checked', { hasWebhook: true }));
    await must(kubectl(['apply', '-f', '-'], foreignCrds.map((crd) => stringify(crd)).join('---\n')));
    for (const { name, deploy } of projects) {
      for (const path of ['manager/namespace.yaml', 'crds', 'rbac/rbac.yaml'])
        await must(kubectl(['apply', '-f', join(deploy, path)]));
      // Beside the profile that is enforced for pods, so that a Deployment is judged, too.
      await must(kubectl(['label', 'namespace', `${name}-system`, 'pod-security.kubernetes.io/warn=restricted']));
    }
  }, 900_000);
  afterAll(async () => {
    for (const project of projects) project[Symbol.dispose]();
    await peer[Symbol.asyncDispose]();
  });

  it.each([0, 1])('is accepted by a server-side dry run without a warning (project %i)', async (index) => {
    const { deploy, kctl } = projects[index] as Scaffold;
    const output = await must(
      kubectl(['apply', '--dry-run=server', '--server-side', '--field-manager=kctl', '-k', deploy]),
    );
    expect(output).toMatch(/deployment.apps\/\w+ serverside-applied \(server dry run\)/);
    expect(output).not.toContain('Warning');
    await must(kubectl(['apply', '--dry-run=server', '-f', join(deploy, 'samples')]));
    const deployed = await kctl('deploy', '--dry-run', '--kubeconfig', peer.kubeconfigPath);
    expect(deployed, deployed.output).toMatchObject({ code: 0 });
    expect(deployed.output).not.toContain('skipped');
  });

  it.each([0, 1])('has pods of the restricted profile (project %i)', async (index) => {
    const { name, deploy } = projects[index] as Scaffold;
    const deployment = objectsIn(readFileSync(join(deploy, 'manager', 'manager.yaml'), 'utf8'))[0];
    const spec = podOf(deployment);
    const pod = (more: object): string =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', namespace: `${name}-system` },
        spec: { ...spec, ...more },
      });
    await must(kubectl(['create', '--dry-run=server', '-f', '-'], pod({})));
    // The embedded server has no Pod Security admission.
    if (target === 'embedded') return;
    const refused = await kubectl(['create', '--dry-run=server', '-f', '-'], pod({ securityContext: {} }));
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.output).toContain('violates PodSecurity "restricted');
  });

  it('uses the rights that are generated for it, and no more, on this server', async () => {
    const { folder } = projects[0] as Scaffold;
    const root = join(import.meta.dirname, '..', '..', '..');
    // Node takes a test runner that was started by another one for a part of it.
    const args = [
      '--import',
      join(root, 'scripts', 'typescript.mjs'),
      '--conditions=@kctl/source',
      '--test',
      'test/greeting.test.ts',
    ];
    const { code, output } = await run('env', ['-u', 'NODE_TEST_CONTEXT', process.execPath, ...args], {
      cwd: folder,
      env: { KCTL_TEST_SERVER: target },
    });
    expect(code, output).toBe(0);
    expect(output).toContain('with the rights that are generated and no more');
  });

  it.each([0, 1])('has a chart that helm lints, and renders as the kustomization is (project %i)', async (index) => {
    const { name, deploy } = projects[index] as Scaffold;
    const chart = join(deploy, 'chart');
    expect(await must(helm('lint', '--strict', chart))).toContain('0 chart(s) failed');
    const release = ['template', 'release', chart, '--namespace', `${name}-system`];
    const rendered = objectsIn(await must(helm(...release)));
    const built = objectsIn(await must(kubectl(['kustomize', deploy])));
    const idsOf = (objects: readonly ManifestObject[]): string[] =>
      objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort();
    expect(idsOf(rendered)).toEqual(idsOf(built.filter(({ kind }) => kind !== 'Namespace')));
    const strip = (objects: readonly ManifestObject[]): unknown =>
      objects
        .filter(({ kind }) => kind !== 'Namespace' && kind !== 'CustomResourceDefinition')
        .map((object) => ({ ...object, spec: withoutPullPolicy(object.spec) }))
        .sort((left, right) =>
          `${left.kind}/${left.metadata.name}` < `${right.kind}/${right.metadata.name}` ? -1 : 1,
        );
    expect(strip(rendered)).toEqual(strip(built));
    await must(
      kubectl(
        ['apply', '--dry-run=server', '--server-side', '-f', '-'],
        rendered.map((each) => JSON.stringify(each)).join('\n---\n'),
      ),
    );
  });

  it('has values for what platform teams set', async () => {
    const { name, deploy } = projects[1] as Scaffold;
    const file = join(peer.folder, 'values.json');
    writeFileSync(file, JSON.stringify(allValues));
    const chart = join(deploy, 'chart');
    await must(helm('lint', '--strict', chart, '--values', file));
    // A namespace that looks like a number.
    const release = ['template', 'release', chart, '--namespace', '2026', '--values', file];
    const rendered = objectsIn(await must(helm(...release)));
    const spec = podOf(rendered.find(({ kind }) => kind === 'Deployment'));
    const { nodeSelector, tolerations, affinity, topologySpreadConstraints, imagePullSecrets } = allValues;
    expect(spec).toMatchObject({ nodeSelector, tolerations, affinity, topologySpreadConstraints, imagePullSecrets });
    expect(spec['volumes']).toEqual([expect.objectContaining({ name: 'certificate' }), ...allValues.volumes]);
    expect(spec.containers[0]).toMatchObject({
      image: allValues.image.reference,
      imagePullPolicy: 'Always',
      resources: allValues.resources,
      env: expect.arrayContaining(allValues.env) as unknown,
      volumeMounts: expect.arrayContaining(allValues.volumeMounts) as unknown,
    });
    expect(rendered.find(({ kind }) => kind === 'ServiceMonitor')?.metadata.namespace).toBe('2026');
    const others = rendered.flatMap(({ metadata: { namespace } }) =>
      namespace === undefined || namespace === '2026' ? [] : [namespace],
    );
    expect(others).toEqual([]);
    expect(JSON.stringify(rendered)).not.toContain(`${name}-system`);

    const off = ['podDisruptionBudget.enabled', 'networkPolicy.enabled', 'crds.install'].flatMap((value) => [
      '--set',
      `${value}=false`,
    ]);
    const fewer = objectsIn(await must(helm('template', 'release', chart, ...off))).map(({ kind }) => kind);
    expect(
      fewer.filter((kind) =>
        ['PodDisruptionBudget', 'NetworkPolicy', 'CustomResourceDefinition', 'ServiceMonitor'].includes(kind),
      ),
    ).toEqual([]);
    const kept = async (...set: string[]): Promise<unknown> =>
      objectsIn(await must(helm('template', 'release', chart, ...set))).find(
        ({ kind }) => kind === 'CustomResourceDefinition',
      )?.metadata.annotations?.['helm.sh/resource-policy'];
    expect(await kept()).toBe('keep');
    expect(await kept('--set', 'crds.keep=false')).toBeUndefined();
  });

  it('takes a kustomize overlay with the component for the prometheus-operator', async () => {
    const { deploy, folder, name } = projects[0] as Scaffold;
    mkdirSync(join(folder, 'overlay'));
    const overlay = {
      resources: ['../deploy'],
      components: ['../deploy/components/service-monitor'],
      images: [{ name, newName: 'registry.example.com/greeter', newTag: '2' }],
      patches: [{ target: { kind: 'Deployment' }, patch: '[{"op": "replace", "path": "/spec/replicas", "value": 5}]' }],
    };
    writeFileSync(join(folder, 'overlay', 'kustomization.yaml'), stringify(overlay));
    const built = objectsIn(await must(kubectl(['kustomize', join(folder, 'overlay')])));
    expect(built.map(({ kind }) => kind)).toContain('ServiceMonitor');
    const deployment = built.find(({ kind }) => kind === 'Deployment');
    expect(deployment?.spec).toMatchObject({ replicas: 5 });
    expect(podOf(deployment).containers[0]).toMatchObject({ image: 'registry.example.com/greeter:2' });
    expect(objectsIn(readFileSync(join(deploy, 'manager', 'manager.yaml'), 'utf8'))[0]?.spec).toMatchObject({
      replicas: 2,
    });
  });
});

/** The one field that the chart has and the manifest leaves to the server. */
function withoutPullPolicy(spec: unknown): unknown {
  return JSON.parse(
    JSON.stringify(spec ?? null, (key, value: unknown) => (key === 'imagePullPolicy' ? undefined : value)),
  );
}
