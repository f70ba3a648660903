import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { DeepReadonly, KubeObject, UntypedObject } from '@kctl/apimachinery';
import { ManifestError } from './errors.js';
import { messageOf } from '@kctl/telemetry/internal';
import { parseText } from './parse.js';
import type { ParsedDocument } from './parse.js';

/**
 * Where manifests come from: an object; a text of YAML or JSON documents; the path of a file, or of a folder with `.yaml`,
 * `.yml` and `.json` files, without those of folders in it.
 */
export type ManifestSource = string | DeepReadonly<KubeObject>;

/** An object to apply, and where it is from. */
export interface Manifest {
  readonly object: UntypedObject & {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string };
  };
  /** For errors: a file, a document, an index. */
  readonly place: string;
}

/**
 * The objects of sources, in order, with those of Lists in place of the Lists. Nothing is sent.
 *
 * @throws ManifestError naming each problem: what is not YAML or no object, what lacks apiVersion, kind or name, what is
 *   there twice
 */
export async function readManifests(sources: ManifestSource | readonly ManifestSource[]): Promise<readonly Manifest[]> {
  return (await readSources(sources)).manifests;
}

/** Manifests, and the sources without any. */
export interface ReadSources {
  readonly manifests: readonly Manifest[];
  /** Files, folders, strings and Lists that contain no objects; for an empty list of sources, one entry that names it. */
  readonly empty: readonly string[];
}

/** {@link readManifests} with the sources that contain no objects. @throws ManifestError */
export async function readSources(sources: ManifestSource | readonly ManifestSource[]): Promise<ReadSources> {
  const list = isList(sources) ? sources : [sources];
  const problems: string[] = [];
  const manifests: Manifest[] = [];
  const empty: string[] = list.length === 0 ? ['the list of sources'] : [];
  for (const [index, source] of list.entries())
    for (const { place, documents } of await partsOf(source, `manifest ${index + 1}`)) {
      const before = manifests.length;
      for (const document of documents) add(document, { manifests, problems });
      if (manifests.length === before) empty.push(place);
    }
  const seen = new Map<string, string>();
  for (const { object, place } of manifests) {
    const { apiVersion, kind, metadata } = object;
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
    const id = `${kind}.${group} ${metadata.namespace ?? ''}/${metadata.name}`;
    const other = seen.get(id);
    if (other === undefined) seen.set(id, place);
    else problems.push(`${place}: ${kind} ${metadata.name} is also in ${other}: leave one out`);
  }
  if (problems.length > 0) throw new ManifestError(problems);
  return { manifests, empty };
}

function isList(sources: ManifestSource | readonly ManifestSource[]): sources is readonly ManifestSource[] {
  return Array.isArray(sources);
}

/** A file, a string, an object, or a folder without files. */
interface SourcePart {
  readonly place: string;
  readonly documents: readonly ParsedDocument[];
}

async function partsOf(source: ManifestSource, place: string): Promise<readonly SourcePart[]> {
  if (typeof source !== 'string') return [{ place, documents: [{ value: source, place }] }];
  if (source.includes('\n') || source.trimStart().startsWith('{'))
    return [{ place, documents: parseText(source, place) }];
  try {
    const found = await stat(source);
    if (!found.isDirectory()) return [await fileOf(source)];
    const names = (await readdir(source)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort();
    if (names.length === 0) return [{ place: `${source} (no .yaml, .yml or .json file)`, documents: [] }];
    return await Promise.all(names.map(async (name) => await fileOf(join(source, name))));
  } catch (error) {
    const problem = `neither a file or folder that can be read nor YAML: ${messageOf(error)}`;
    return [{ place: source, documents: [{ value: undefined, place: JSON.stringify(source), problem }] }];
  }
}

async function fileOf(file: string): Promise<SourcePart> {
  return { place: file, documents: parseText(await readFile(file, 'utf8'), file) };
}

interface Found {
  readonly manifests: Manifest[];
  readonly problems: string[];
}

/** Lists that may be within one another: kubectl writes none in a List. */
const maxLists = 20;

function add({ value, place, problem }: ParsedDocument, found: Found, lists = 0): void {
  const refuse = (reason: string): void => void found.problems.push(`${place}: ${reason}`);
  if (problem !== undefined) {
    refuse(problem);
    return;
  }
  if (!isJsonObject(value)) {
    refuse('not an object: expected apiVersion, kind and metadata');
    return;
  }
  const { apiVersion, kind, metadata, items } = value;
  if (typeof apiVersion !== 'string' || apiVersion === '') {
    refuse('apiVersion is not set');
    return;
  }
  if (typeof kind !== 'string' || kind === '') {
    refuse('kind is not set');
    return;
  }
  if (kind.endsWith('List') && Array.isArray(items)) {
    if (lists === maxLists) {
      refuse(`${maxLists} Lists are within one another: expected objects in a List`);
      return;
    }
    for (const [index, item] of items.entries())
      add({ value: item, place: `${place}: item ${index + 1}` }, found, lists + 1);
    return;
  }
  const { name, generateName, namespace, labels, ...rest }: Record<string, unknown> = isJsonObject(metadata)
    ? metadata
    : {};
  if (typeof name !== 'string' || name === '') {
    const hint = generateName === undefined ? '' : ': generateName makes a new object each time: name it';
    refuse(`${kind}: metadata.name is not set${hint}`);
    return;
  }
  if (rest['managedFields'] !== undefined) {
    refuse(
      `${kind} ${name}: metadata.managedFields is set: apply the fields that you mean to own, not an object as it was read`,
    );
    return;
  }
  const own = {
    ...rest,
    name,
    ...(typeof namespace === 'string' && namespace !== '' ? { namespace } : {}),
    ...(isJsonObject(labels) ? { labels: labels as Record<string, string> } : {}),
  };
  found.manifests.push({ object: { ...value, apiVersion, kind, metadata: own }, place });
}
