/**
 * Prints manifests. An entry point of its own, so that a bundle which prints none has no YAML library in it.
 *
 * @packageDocumentation
 */
import '@kctl/telemetry/require-in-bundles'; // before a CommonJS package
import type { KubeObject } from '@kctl/apimachinery';
import { stringify } from 'yaml';

/** Manifests as a YAML stream that `kubectl apply -f -` reads. */
export function printManifests(manifests: readonly KubeObject[]): string {
  return manifests.map((manifest) => `---\n${stringify(manifest, { lineWidth: 0 })}`).join('');
}
