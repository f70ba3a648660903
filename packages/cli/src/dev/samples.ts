import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isManifest, type ManifestObject } from '../deploy/apply-objects.js';
import { CliError } from '../errors.js';
import { shownPath, type Project } from '../project.js';
import { yamlDocuments } from '../yaml-documents.js';

/**
 * The objects of a folder of YAML files. @throws CliError if a named folder does not exist, or naming a document that
 * is not an object
 */
export function samplesOf(
  { folder, output }: Pick<Project, 'folder' | 'output'>,
  { samples }: { readonly samples?: string },
): readonly ManifestObject[] {
  const path = samples === undefined ? join(output, 'samples') : resolve(folder, samples);
  if (!existsSync(path)) {
    if (samples === undefined) return [];
    throw new CliError(`${samples} does not exist: name a folder of YAML files by --samples`);
  }
  return readdirSync(path)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .flatMap((name) => {
      const file = join(path, name);
      return objectsOf(shownPath(folder, file), readFileSync(file, 'utf8'));
    });
}

function objectsOf(source: string, text: string): readonly ManifestObject[] {
  return yamlDocuments(source, text).flatMap((document, index) =>
    itemsOf(document).map((each) => {
      if (isManifest(each)) return each;
      throw new CliError(
        `${source}: document ${index + 1} is not an object: expected apiVersion, kind and metadata.name`,
      );
    }),
  );
}

/** The items of a List as `kubectl get -o yaml` writes it, else the document. */
function itemsOf(document: unknown): readonly unknown[] {
  const items: unknown = typeof document === 'object' && document !== null ? Reflect.get(document, 'items') : undefined;
  return Array.isArray(items) ? items : [document];
}
