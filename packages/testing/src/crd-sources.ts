import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DeepReadonly, Kind } from '@kctl/apimachinery';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { readYamlDocuments } from '@kctl/yaml';

/**
 * Source of a CustomResourceDefinition, which is the object itself; the path of a file, or of a folder with `.yaml`,
 * `.yml` and `.json` files; a string of YAML or JSON documents; a resource of `defineResource`, which brings its
 * definition; or any other kind, for which a definition is made that takes any object.
 */
export type CrdSource = DeepReadonly<CustomResourceDefinition> | Kind | string;

/**
 * Returns the definitions of sources, in order. Other documents in files and strings are skipped, as in envtest. Kinds
 * of one group and name give one definition that serves all of their versions.
 *
 * @throws Error that names the file or string if nothing is found, or if it is not YAML
 */
export async function resolveCrds(
  given: CrdSource | readonly CrdSource[],
): Promise<readonly DeepReadonly<CustomResourceDefinition>[]> {
  const sources: readonly CrdSource[] = isList(given) ? given : [given];
  const definitions: DeepReadonly<CustomResourceDefinition>[] = [];
  const kinds = new Map<string, Kind[]>();
  for (const source of sources) {
    if (typeof source === 'string') definitions.push(...(await readSource(source)));
    else if (isDefinitionObject(source)) definitions.push(source);
    else if (isResource(source)) definitions.push(source.manifest);
    else if (isKind(source)) {
      const name = `${source.plural}.${source.group}`;
      kinds.set(name, [...(kinds.get(name) ?? []), source]);
    } else throw new TypeError('crds: expected a CustomResourceDefinition, a kind, a path or YAML');
  }
  // The other versions of a resource are in its definition.
  for (const { metadata } of definitions) kinds.delete(metadata.name ?? '');
  return [...definitions, ...[...kinds.values()].map(anyObjectOf)];
}

function isList(given: CrdSource | readonly CrdSource[]): given is readonly CrdSource[] {
  return Array.isArray(given);
}

/** With its name alone, too, which is enough to delete it. */
function isDefinitionObject(source: unknown): source is DeepReadonly<CustomResourceDefinition> {
  return typeof source === 'object' && source !== null && ('spec' in source || 'metadata' in source);
}

/** Of `defineResource`: a kind with its definition. */
function isResource(source: unknown): source is { readonly manifest: CustomResourceDefinition } {
  return typeof source === 'object' && source !== null && 'manifest' in source && isDefinition(source.manifest);
}

function isKind(source: unknown): source is Kind {
  return (
    typeof source === 'object' && source !== null && 'plural' in source && 'apiVersion' in source && 'scope' in source
  );
}

async function readSource(source: string): Promise<CustomResourceDefinition[]> {
  if (source.includes('\n') || source.trimStart().startsWith('{')) return parse(source, 'the text of crds');
  let found: Awaited<ReturnType<typeof stat>>;
  try {
    found = await stat(source);
  } catch (cause) {
    throw new Error(`crds: ${JSON.stringify(source)} is neither a file or folder that can be read nor YAML`, { cause });
  }
  const files = found.isDirectory()
    ? (await readdir(source))
        .filter((name) => /\.(ya?ml|json)$/.test(name))
        .sort()
        .map((name) => join(source, name))
    : [source];
  const definitions: CustomResourceDefinition[] = [];
  for (const file of files) {
    const inFile = parse(await readFile(file, 'utf8'), file, found.isDirectory());
    definitions.push(...inFile);
  }
  if (definitions.length === 0) throw new Error(`crds: there is no CustomResourceDefinition in ${source}`);
  return definitions;
}

/** The definitions among the documents of a string. */
function parse(text: string, what: string, mayBeEmpty = false): CustomResourceDefinition[] {
  const definitions: CustomResourceDefinition[] = [];
  for (const document of readYamlDocuments(text)) {
    if ('error' in document)
      throw new Error(`crds: ${what} is not YAML: ${document.error.message}`, { cause: document.error });
    const { value }: { readonly value: unknown } = document;
    if (isDefinition(value)) definitions.push(value);
  }
  if (definitions.length === 0 && !mayBeEmpty) throw new Error(`crds: there is no CustomResourceDefinition in ${what}`);
  return definitions;
}

function isDefinition(value: unknown): value is CustomResourceDefinition {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    value.kind === 'CustomResourceDefinition' &&
    'spec' in value
  );
}

/** A definition without a schema, so that objects are taken as they are, with a separate status. */
function anyObjectOf(kinds: readonly Kind[]): CustomResourceDefinition {
  const [first] = kinds;
  if (first === undefined) throw new RangeError('crds: the list of kinds is empty: expected at least one');
  const { group, kind, plural, scope } = first;
  if (group === '' || !group.includes('.'))
    throw new TypeError(`crds: ${kind} of group ${JSON.stringify(group)} is built in: it needs no definition`);
  const other = kinds.find((each) => each.scope !== scope || each.kind !== kind);
  if (other !== undefined)
    throw new TypeError(
      `crds: ${plural}.${group} is ${kind}, ${scope}, in ${first.version} and ${other.kind}, ${other.scope}, in ${other.version}: one definition has one of each`,
    );
  const versions = [...new Set(kinds.map(({ version }) => version))];
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, plural },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: { status: {} },
      })),
    },
  };
}
