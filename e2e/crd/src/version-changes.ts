import type { CrdDiff } from '@kctl/crd';
import type { Json } from './random-schema.js';

interface Answer {
  readonly status: number;
  readonly body: Json;
}

/** What a change is tried with. */
export interface Bench {
  readonly call: (method: 'DELETE' | 'GET' | 'POST' | 'PUT', path: string, body?: unknown) => Promise<Answer>;
  readonly until: <T>(what: string, probe: () => Promise<T | undefined>) => Promise<T>;
  readonly definitions: string;
  readonly diff: (old: object, next: object, options: { objects: readonly object[] }) => CrdDiff;
}

/** A change of a definition besides its schema. Resolves to what is wrong with the verdict. */
export interface VersionChange {
  readonly name: string;
  readonly run: (bench: Bench) => Promise<string | undefined>;
}

interface Scenario {
  readonly name: string;
  readonly verdict: CrdDiff['verdict'];
  /** Whether the API server takes the new definition. */
  readonly isTaken: boolean;
  readonly change: (spec: Definition) => Definition;
  /** What the API server answers for the stored object in v1beta1 afterwards. @default 200 */
  readonly beta?: number;
  /** The installed definition, where it is not the usual one. */
  readonly old?: (spec: Definition) => Definition;
}

interface Version {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly subresources?: Json;
  readonly deprecated?: boolean;
  readonly selectableFields?: readonly Json[];
  readonly schema: Json;
}

interface Definition {
  readonly scope: string;
  readonly names: Readonly<Record<string, unknown>>;
  readonly versions: readonly Version[];
}

const schema: Json = {
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { size: { type: 'integer' }, color: { type: 'string' } } } },
  },
};
const beta: Version = { name: 'v1beta1', served: true, storage: true, schema };
const stable: Version = { name: 'v1', served: true, storage: false, schema };

const mapVersions =
  (change: (version: Version) => Version | undefined) =>
  (spec: Definition): Definition => ({ ...spec, versions: spec.versions.flatMap((version) => change(version) ?? []) });
const named =
  (name: string, more: Partial<Version>) =>
  (version: Version): Version =>
    version.name === name ? { ...version, ...more } : version;
const selectable = mapVersions((version) => ({ ...version, selectableFields: [{ jsonPath: '.spec.color' }] }));

const scenarios: readonly Scenario[] = [
  { name: 'nothing', verdict: 'compatible', isTaken: true, change: (spec) => spec },
  {
    name: 'the stored version is removed',
    verdict: 'breaking',
    isTaken: false,
    change: mapVersions((version) => (version.name === 'v1beta1' ? undefined : { ...version, storage: true })),
  },
  {
    name: 'a version that is not stored is removed',
    verdict: 'breaking',
    isTaken: true,
    change: mapVersions((version) => (version.name === 'v1' ? undefined : version)),
  },
  {
    name: 'the storage version changes',
    verdict: 'compatible',
    isTaken: true,
    change: mapVersions((version) => ({ ...version, storage: version.name === 'v1' })),
  },
  {
    name: 'a version is no longer served',
    verdict: 'breaking',
    isTaken: true,
    change: mapVersions(named('v1beta1', { served: false })),
    beta: 404,
  },
  {
    name: 'a version is deprecated',
    verdict: 'compatible',
    isTaken: true,
    change: mapVersions(named('v1beta1', { deprecated: true })),
  },
  {
    name: 'a version is added',
    verdict: 'compatible',
    isTaken: true,
    change: (spec) => ({ ...spec, versions: [...spec.versions, { ...stable, name: 'v2' }] }),
  },
  {
    name: 'the scope changes',
    verdict: 'breaking',
    isTaken: false,
    change: (spec) => ({ ...spec, scope: 'Namespaced' }),
  },
  {
    name: 'the kind changes',
    verdict: 'breaking',
    isTaken: false,
    change: (spec) => ({ ...spec, names: { ...spec.names, kind: 'Other', listKind: 'OtherList' } }),
  },
  {
    name: 'status becomes a subresource',
    verdict: 'breaking',
    isTaken: true,
    change: mapVersions(named('v1beta1', { subresources: { status: {} } })),
  },
  { name: 'a selectable field is added', verdict: 'compatible', isTaken: true, change: selectable },
  {
    name: 'a selectable field is removed',
    verdict: 'breaking',
    isTaken: true,
    old: selectable,
    change: mapVersions(({ selectableFields: _fields, ...version }) => version),
  },
];

async function tryScenario(
  scenario: Scenario,
  index: number,
  group: string,
  bench: Bench,
): Promise<string | undefined> {
  const { call, until, definitions, diff } = bench;
  const plural = `versions${String(index)}`;
  const names = { plural, singular: plural, kind: `Version${String(index)}`, listKind: `Version${String(index)}List` };
  const usual: Definition = { scope: 'Cluster', names, versions: [beta, stable] };
  const spec = scenario.old?.(usual) ?? usual;
  const definition = (own: Definition, metadata: Json): Json => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...metadata },
    spec: { group, conversion: { strategy: 'None' }, ...own },
  });
  const path = `/apis/${group}/v1beta1/${plural}`;
  const created = await call('POST', definitions, definition(spec, {}));
  if (created.status !== 201) return `the first definition is refused: ${String(created.body['message'])}`;
  await until(path, async () => ((await call('GET', path)).status === 200 ? true : undefined));
  const object = { apiVersion: `${group}/v1beta1`, kind: names.kind, metadata: { name: 'a' }, spec: { size: 1 } };
  const stored = await until('an object is stored', async () => {
    const { status, body } = await call('POST', path, object);
    return status === 201 ? body : undefined;
  });
  const installed = await until('storedVersions', async () => {
    const { body } = await call('GET', `${definitions}/${plural}.${group}`);
    return body['status'] === undefined ? undefined : body;
  });
  const resourceVersion = (installed['metadata'] as Json)['resourceVersion'];
  const next = definition(scenario.change(spec), { resourceVersion });
  const { verdict, changes } = diff(installed, next, { objects: [stored] });
  const written = await call('PUT', `${definitions}/${plural}.${group}`, next);
  if (verdict !== scenario.verdict) return `the verdict is ${verdict}: ${JSON.stringify(changes)}`;
  if ((written.status === 200) !== scenario.isTaken)
    return `the API server answers ${String(written.status)}: ${String(written.body['message'])}`;
  if (scenario.beta !== undefined) {
    await until(`${scenario.name}: v1beta1 answers ${String(scenario.beta)}`, async () =>
      (await call('GET', `${path}/a`)).status === scenario.beta ? true : undefined,
    );
  }
  return undefined;
}

/** Changes of versions, names and scope, each with the verdict it has and whether the API server takes it. */
export function versionChanges(group: string): readonly VersionChange[] {
  return scenarios.map((scenario, index) => ({
    name: scenario.name,
    run: (bench) => tryScenario(scenario, index, group, bench),
  }));
}
