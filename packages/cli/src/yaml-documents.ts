import { readYamlDocuments } from '@kctl/yaml';
import { CliError } from './errors.js';

/** The documents of a string of YAML or JSON, as kubectl reads them. @throws CliError naming source and line */
export function yamlDocuments(source: string, text: string): readonly unknown[] {
  return readYamlDocuments(text).map((document) => {
    if ('error' in document)
      throw new CliError(`${source} is not YAML: ${document.error.message}`, { cause: document.error });
    return document.value;
  });
}
