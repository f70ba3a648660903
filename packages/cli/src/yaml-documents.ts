import { messageOf } from '@kctl/telemetry';
import { parseAllDocuments } from 'yaml';
import { CliError } from './errors.js';

/**
 * The documents of a text of YAML or JSON, as kubectl reads them: YAML 1.1, so that `0644` is octal and `yes` is true, without
 * dates and numbers to the base of 60. Those without content are left out. @throws CliError naming source and line
 */
export function yamlDocuments(source: string, text: string): readonly unknown[] {
  const refused = (problem: string, cause: unknown): CliError =>
    new CliError(`${source} is not YAML: ${firstLine(problem)}`, { cause });
  const documents = parseAllDocuments(text, {
    schema: 'yaml-1.1',
    logLevel: 'error',
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !isText(tag)),
  });
  return [...documents].flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw refused(error.message, error);
    try {
      const value: unknown = document.toJS();
      return value === null || value === undefined ? [] : [value];
    } catch (error) {
      throw refused(messageOf(error), error);
    }
  });
}

/** The others quote the text. */
function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/:$/, '');
}

function isText(tag: { readonly tag: string; readonly format?: string }): boolean {
  return tag.tag === 'tag:yaml.org,2002:timestamp' || tag.format === 'TIME';
}
