import '@kctl/telemetry/require-in-bundles'; // before a CommonJS package
import { stringify } from 'yaml';
import { sorted } from './manifest.js';

/** Objects as one YAML stream: properties in alphabetical order, the same text on every run. */
export function crdYaml(...objects: readonly object[]): string {
  return objects
    .map((object) => `---\n${stringify(sorted(object), { lineWidth: 0, aliasDuplicateObjects: false })}`)
    .join('');
}
