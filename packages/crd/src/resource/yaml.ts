import { writeYaml } from '@kctl/yaml';
import { sorted } from './manifest.js';

/** Objects as one YAML stream, with properties in alphabetical order and identical output on every run. */
export function crdYaml(...objects: readonly object[]): string {
  return objects.map((object) => `---\n${writeYaml(sorted(object))}`).join('');
}
