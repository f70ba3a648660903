/**
 * `projects`: kinds generated from the CustomResourceDefinitions of large projects, out of their Go modules. The same
 * text in any order; it compiles under the strictest settings; it takes the projects' own sample objects.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { diffCrd, generateKinds, type GeneratedModule } from '@kctl/crd';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });

interface Project {
  readonly name: string;
  /** The Go module, in the version that is tried. */
  readonly module: string;
  readonly definitions: readonly string[];
  /** Folders with sample objects. */
  readonly samples: readonly string[];
}

const projects: readonly Project[] = [
  {
    name: 'cert-manager',
    module: 'github.com/cert-manager/cert-manager@v1.21.2',
    definitions: ['deploy/crds'],
    samples: ['deploy', 'test', 'design', 'internal', 'make'],
  },
  {
    name: 'Gateway API',
    module: 'sigs.k8s.io/gateway-api@v1.4.1',
    definitions: ['config/crd/experimental'],
    samples: ['examples', 'conformance'],
  },
  {
    name: 'prometheus-operator',
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    definitions: ['example/prometheus-operator-crd-full'],
    samples: ['example'],
  },
  {
    name: 'Cluster API',
    module: 'sigs.k8s.io/cluster-api@v1.14.2',
    definitions: [
      'core/config/crd/bases',
      'bootstrap/kubeadm/config/crd/bases',
      'controlplane/kubeadm/config/crd/bases',
    ],
    samples: ['docs', 'test', 'cmd', 'internal', 'core', 'controlplane', 'bootstrap'],
  },
  {
    name: 'Argo CD',
    module: 'github.com/argoproj/argo-cd/v2@v2.14.21',
    definitions: ['manifests/crds'],
    samples: ['applicationset/examples', 'docs', 'examples', 'test/e2e/testdata'],
  },
  {
    name: 'Argo Rollouts',
    module: 'github.com/argoproj/argo-rollouts@v1.8.3',
    definitions: ['manifests/crds'],
    samples: ['examples', 'docs', 'test/e2e'],
  },
];

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The folder of a module, from the module proxy. */
function folderOf(module: string): string {
  const cwd = mkdtempSync(join(tmpdir(), 'kctl-projects-'));
  const done = spawnSync('go', ['mod', 'download', '-json', module], { cwd, encoding: 'utf8' });
  rmSync(cwd, { recursive: true });
  const found: unknown = JSON.parse(done.stdout || '{}');
  if (isObject(found) && typeof found['Dir'] === 'string') return found['Dir'];
  throw new Error(`download ${module}: ${isObject(found) ? String(found['Error']) : done.stderr}`);
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch {
    return [];
  }
}

/** Without nulls, which the API server drops. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, entry]) => entry !== null);
  return Object.fromEntries(entries.map(([key, entry]) => [key, withoutNulls(entry)]));
}

/** The objects of a file; none where it is a template of Helm, or not YAML. */
function objectsIn(file: string): Json[] {
  const text = readFileSync(file, 'utf8');
  if (text.includes('{{')) return [];
  const documents = parseAllDocuments(text.replaceAll(/\$\{[^}]*\}/g, 'value'));
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    if (document.errors.length > 0) return [];
    const object = withoutNulls(document.toJS());
    return isObject(object) ? [object] : [];
  });
}

/** Whether the definition of an object takes it, all of it: some samples are meant for other versions, or are wrong. */
function isTaken(sample: Json, definitions: readonly Json[]): boolean {
  const definition = definitions.find(({ spec }) => {
    const { group, names } = isObject(spec) ? spec : {};
    const kind = isObject(names) ? names['kind'] : undefined;
    return kind === sample['kind'] && String(sample['apiVersion']).startsWith(`${String(group)}/`);
  });
  return definition !== undefined && diffCrd(definition, definition, { objects: [sample] }).affected.length === 0;
}

const root = join(import.meta.dirname, '..', 'generated');
const options: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  customConditions: ['@kctl/source'],
  lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts'],
  types: [],
};

/** What the compiler says of files that are not written anywhere. */
function problemsOf(files: ReadonlyMap<string, string>): string[] {
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile, directoryExists } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.directoryExists = (folder) => folder.startsWith(root) || directoryExists?.(folder) === true;
  host.getSourceFile = (file, version, ...rest) => {
    const text = files.get(file);
    return text === undefined ? getSourceFile(file, version, ...rest) : ts.createSourceFile(file, text, version, true);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files.keys()].flatMap((file) => {
    const source = program.getSourceFile(file);
    if (source === undefined) return [`${file} is not compiled`];
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map((found) => {
      const line = found.start === undefined ? 0 : source.getLineAndCharacterOfPosition(found.start).line + 1;
      return `${file.slice(root.length + 1)}:${line} ${ts.flattenDiagnosticMessageText(found.messageText, '\n  ')}`;
    });
  });
}

/** A module with each sample as a constant of its generated type: what the type does not take does not compile. */
function samplesModule(samples: readonly Json[], kinds: ReadonlyMap<string, string>): string {
  const imports: string[] = [];
  const lines = samples.map((sample, index) => {
    const { apiVersion, kind } = sample;
    const path = kinds.get(`${String(apiVersion)} ${String(kind)}`) ?? '';
    imports.push(`import type { ${String(kind)} as Kind${index} } from './${path.replace(/\.ts$/, '.js')}';`);
    return `export const sample${index}: Kind${index} = ${JSON.stringify(sample, null, 1)};`;
  });
  return [...imports, ...lines, ''].join('\n');
}

function kindsOf(modules: readonly GeneratedModule[]): Map<string, string> {
  const kinds = new Map<string, string>();
  for (const { path, text } of modules) {
    const apiVersion = path.replace(/\.ts$/, '');
    for (const [, kind = ''] of text.matchAll(/^export const (\w+): Kind</gm)) kinds.set(`${apiVersion} ${kind}`, path);
  }
  return kinds;
}

let failed = 0;
const rows: Json[] = [];
for (const { name, module, definitions: places, samples: folders } of projects) {
  const folder = folderOf(module);
  const definitions = places
    .flatMap((place) => filesIn(join(folder, place)))
    .flatMap(objectsIn)
    .filter(({ kind, spec }) => kind === 'CustomResourceDefinition' && isObject(spec));
  const modules = generateKinds(definitions);
  const again = generateKinds([...definitions].reverse());
  const isStable = JSON.stringify(modules) === JSON.stringify(again);
  const kinds = kindsOf(modules);
  const found = folders
    .flatMap((place) => filesIn(join(folder, place)))
    .flatMap(objectsIn)
    .filter(
      ({ apiVersion, kind, metadata }) => isObject(metadata) && kinds.has(`${String(apiVersion)} ${String(kind)}`),
    );
  const samples = found.filter((sample) => isTaken(sample, definitions));
  const base = join(root, name.toLowerCase().replaceAll(' ', '-'));
  const files = new Map(modules.map(({ path, text }) => [join(base, path), text]));
  const own = problemsOf(files);
  files.set(join(base, 'samples.ts'), samplesModule(samples, kinds));
  const refused = problemsOf(files).filter((problem) => problem.includes('samples.ts:'));
  for (const problem of [...own, ...refused].slice(0, 8)) console.log(`${name} ${problem}`);
  if (!isStable) console.log(`${name}: the text depends on the order of the definitions`);
  failed += own.length + refused.length + (isStable ? 0 : 1) + (definitions.length === 0 ? 1 : 0);
  const row = {
    name,
    module,
    definitions: definitions.length,
    modules: modules.length,
    kinds: kinds.size,
    lines: modules.reduce((sum, { text }) => sum + text.split('\n').length, 0),
    samples: samples.length,
    samplesThatTheDefinitionRefuses: found.length - samples.length,
    compileErrors: own.length,
    refusedSamples: refused.length,
  };
  rows.push(row);
  console.log(JSON.stringify(row));
}
if (values.write) {
  const file = join(import.meta.dirname, '..', 'results', 'projects.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(rows, null, 2)}\n`);
}
console.log(`${projects.length} projects, ${failed} problems`);
process.exitCode = failed === 0 ? 0 : 1;
