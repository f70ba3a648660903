import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { generateKinds, type GeneratedModule, type ServedResource } from '@kctl/crd';
import { messageOf } from '@kctl/telemetry';
import type { ClusterOptions } from '../cluster.js';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { shownPath } from '../project.js';
import { yamlDocuments } from '../yaml-documents.js';
import { clusterKinds, type KindSources } from './cluster-kinds.js';
import type { GenerateOutcome } from './generate.js';
import { isSameSource } from './same-source.js';

/** Options of {@link writeKinds}. */
export interface WriteKindsOptions extends ClusterOptions {
  /** Files, folders, `http(s)` URLs, or `cluster`. */
  readonly from: readonly string[];
  /** Folder of the modules. */
  readonly output: string;
  /** Writes nothing. */
  readonly check?: boolean;
  /** The groups that are written. @default all */
  readonly group?: readonly string[];
}

/** Writes a typed module for each group version, or, with `check`, compares them. */
export async function writeKinds(io: CliIo, options: WriteKindsOptions): Promise<GenerateOutcome> {
  const sources: KindSources[] = [];
  for (const source of options.from) sources.push(await sourcesOf(io, source, options));
  const definitions = sources.flatMap((each) => each.definitions);
  const from = options.from.join(', ');
  if (definitions.length === 0)
    throw new CliError(
      `there is no CustomResourceDefinition or OpenAPI v3 document in ${from}: name a file, a folder, a URL or "cluster"`,
    );
  const resources = sources.flatMap((each) => each.resources ?? []);
  const modules = wanted(modulesOf(definitions, resources, from), options.group, from);
  const output = resolve(io.cwd, options.output);
  const written: string[] = [];
  const unchanged: string[] = [];
  for (const { path, text } of modules) {
    const target = join(output, ...path.split('/'));
    const shown = shownPath(io.cwd, target);
    // A project's formatter may have gone over it.
    if (existsSync(target) && isSameSource(readFileSync(target, 'utf8'), text)) {
      unchanged.push(shown);
      continue;
    }
    written.push(shown);
    if (options.check === true) continue;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  return { written, unchanged, removed: [] };
}

function modulesOf(
  definitions: readonly object[],
  resources: readonly ServedResource[],
  from: string,
): readonly GeneratedModule[] {
  try {
    return generateKinds(definitions, { resources });
  } catch (error) {
    throw new CliError(`${from}: ${messageOf(error)}`, { cause: error });
  }
}

/** The modules of some groups. @throws CliError naming a group that none is of, and those that there are */
function wanted(
  modules: readonly GeneratedModule[],
  groups: readonly string[] | undefined,
  from: string,
): readonly GeneratedModule[] {
  if (groups === undefined) return modules;
  const groupOf = ({ path }: GeneratedModule): string => posix.dirname(path);
  const present = new Set(modules.map(groupOf));
  const missing = groups.filter((group) => !present.has(group));
  if (missing.length > 0)
    throw new CliError(`${from} has no kinds of ${missing.join(', ')}: its groups are ${[...present].join(', ')}`);
  return modules.filter((module) => groups.includes(groupOf(module)));
}

async function sourcesOf(io: CliIo, source: string, options: ClusterOptions): Promise<KindSources> {
  if (source === 'cluster') return await clusterKinds(io, options);
  if (/^https?:/.test(source)) {
    const response = await fetch(source, { signal: io.signal });
    if (!response.ok) throw new CliError(`${source} answers ${response.status}: is the address right?`);
    return { definitions: parseDefinitions(source, await response.text()) };
  }
  const path = resolve(io.cwd, source);
  if (!existsSync(path)) throw new CliError(`${source} does not exist: name a file, a folder, a URL or "cluster"`);
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => /\.(ya?ml|json)$/.test(name))
        .sort()
        .map((name) => join(path, name))
    : [path];
  const definitions = files.flatMap((file) => parseDefinitions(shownPath(io.cwd, file), readFileSync(file, 'utf8')));
  return { definitions };
}

/** The definitions and OpenAPI documents of a file, also those in a List as `kubectl get -o yaml` writes it. */
function parseDefinitions(source: string, text: string): object[] {
  return yamlDocuments(source, text)
    .flatMap((each): readonly unknown[] => (isObject(each) && Array.isArray(each['items']) ? each['items'] : [each]))
    .filter(isSource);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isSource(value: unknown): value is object {
  return isObject(value) && (value['kind'] === 'CustomResourceDefinition' || typeof value['openapi'] === 'string');
}
