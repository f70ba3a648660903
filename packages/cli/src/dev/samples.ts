import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { isManifest, type ManifestObject } from '../apply-objects.js';
import { CliError } from '../errors.js';
import type { Project } from '../project.js';

/** The objects of a folder of YAML files. @throws CliError where a folder that was named is not there */
export function samplesOf(
  { folder, output }: Pick<Project, 'folder' | 'output'>,
  { samples }: { readonly samples?: string },
): readonly ManifestObject[] {
  const path = samples === undefined ? join(output, 'samples') : join(folder, samples);
  if (!existsSync(path)) {
    if (samples === undefined) return [];
    throw new CliError(`${samples} does not exist: name a folder of YAML files by --samples`);
  }
  return readdirSync(path)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .flatMap((name) =>
      parseAllDocuments(readFileSync(join(path, name), 'utf8')).map((document): unknown => document.toJS() as unknown),
    )
    .filter((each) => isManifest(each));
}
