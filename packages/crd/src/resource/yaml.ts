import '@kctl/telemetry/require-in-bundles'; // before a CommonJS package
import { stringify } from 'yaml';
import { sorted } from './manifest.js';

const options = { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' } as const;

/**
 * Objects as one YAML stream: properties in alphabetical order, the same text on every run. Texts that YAML 1.1 takes for
 * something else, such as `on`, are quoted: kubectl reads that version.
 */
export function crdYaml(...objects: readonly object[]): string {
  return objects.map((object) => `---\n${stringify(sorted(object), options)}`).join('');
}
