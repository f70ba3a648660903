import { jsonText } from '@kctl/crd/internal/engine';

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** A value as JSON that Go writes. */
export function goJson(value: unknown): string {
  return jsonText(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => escapes[character] ?? character);
}
