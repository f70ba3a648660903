import { messageOf } from '@kctl/telemetry';
import { parseAllDocuments } from 'yaml';
import { CliError } from './errors.js';

/** The documents of a text of YAML or JSON; those without content are left out. @throws CliError naming source and line */
export function yamlDocuments(source: string, text: string): readonly unknown[] {
  const refused = (problem: string, cause: unknown): CliError =>
    new CliError(`${source} is not YAML: ${firstLine(problem)}`, { cause });
  const documents = parseAllDocuments(text, { logLevel: 'error' });
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
