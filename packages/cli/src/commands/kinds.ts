import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { generateKinds } from '@kctl/crd';
import { messageOf } from '@kctl/telemetry';
import { openClient, type ClusterOptions } from '../cluster.js';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { shownPath } from '../project.js';

/** Options of {@link writeKinds}. */
export interface WriteKindsOptions extends ClusterOptions {
  /** Files, folders, `http(s)` URLs, or `cluster`. */
  readonly from: readonly string[];
  /** Folder of the modules. */
  readonly output: string;
}

/** Writes a typed module for each group version. @returns the paths that were written */
export async function writeKinds(io: CliIo, options: WriteKindsOptions): Promise<readonly string[]> {
  const definitions: object[] = [];
  for (const source of options.from) definitions.push(...(await definitionsOf(io, source, options)));
  if (definitions.length === 0)
    throw new CliError(
      `there is no CustomResourceDefinition in ${options.from.join(', ')}: name a file, a folder, a URL or "cluster"`,
    );
  const output = resolve(io.cwd, options.output);
  return generateKinds(definitions).map(({ path, text }) => {
    const target = join(output, ...path.split('/'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    return shownPath(io.cwd, target);
  });
}

async function definitionsOf(io: CliIo, source: string, options: ClusterOptions): Promise<object[]> {
  if (source === 'cluster') {
    await using cluster = await openClient(io, options);
    const { items } = await cluster.client.list(CustomResourceDefinition, { signal: io.signal });
    return items.map((item) => ({
      ...item,
      apiVersion: CustomResourceDefinition.apiVersion,
      kind: 'CustomResourceDefinition',
    }));
  }
  if (/^https?:/.test(source)) {
    const response = await fetch(source, { signal: io.signal });
    if (!response.ok) throw new CliError(`${source} answers ${response.status}: is the address right?`);
    return parseDefinitions(source, await response.text());
  }
  const path = resolve(io.cwd, source);
  if (!existsSync(path)) throw new CliError(`${source} does not exist: name a file, a folder, a URL or "cluster"`);
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => /\.(ya?ml|json)$/.test(name))
        .sort()
        .map((name) => join(path, name))
    : [path];
  return files.flatMap((file) => parseDefinitions(shownPath(io.cwd, file), readFileSync(file, 'utf8')));
}

function parseDefinitions(source: string, text: string): object[] {
  try {
    return parseAllDocuments(text)
      .map((document): unknown => document.toJS() as unknown)
      .filter(
        (each): each is object =>
          typeof each === 'object' && each !== null && Reflect.get(each, 'kind') === 'CustomResourceDefinition',
      );
  } catch (error) {
    throw new CliError(`${source} is not YAML: ${messageOf(error)}`, { cause: error });
  }
}
