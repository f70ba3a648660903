import { readYamlDocuments } from '@kctl/yaml';

/** A document, or what is wrong with it. */
export interface ParsedDocument {
  readonly value: unknown;
  /** For errors, such as `site.yaml: document 2`. */
  readonly place: string;
  readonly problem?: string;
}

/** The documents of a string of YAML or JSON, as kubectl reads them. Empty documents are left out. */
export function parseText(text: string, place: string): readonly ParsedDocument[] {
  const documents = readYamlDocuments(text);
  return documents.map((document, index): ParsedDocument => {
    const at = documents.length === 1 ? place : `${place}: document ${index + 1}`;
    return 'error' in document
      ? { value: undefined, place: at, problem: `not YAML: ${document.error.message}` }
      : { value: document.value, place: at };
  });
}
