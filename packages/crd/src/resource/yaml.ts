import { writeYaml } from '@kctl/yaml';
import { sorted } from './manifest.js';

/** Objects as one YAML stream: properties in alphabetical order, the same string on every run. */
export function crdYaml(...objects: readonly object[]): string {
  return objects.map((object) => `---\n${writeYaml(sorted(object))}`).join('');
}
