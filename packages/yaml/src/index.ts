/**
 * YAML as kubectl and the API server read it, by the scalar rules of go-yaml.
 *
 * @packageDocumentation
 */
export type { DuplicateKey, YamlValue } from './decode.js';
export { isYamlError, YamlError } from './errors.js';
export { readYaml, readYamlDocuments } from './read.js';
export type { YamlDocument, YamlFailure } from './read.js';
export { writeYaml } from './write.js';
export type { WriteYamlOptions } from './write.js';
