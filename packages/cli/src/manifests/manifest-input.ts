import type { OperatorGraph } from '@kctl/operator';

/** Input for manifests. */
export interface ManifestInput {
  readonly graph: OperatorGraph;
  /** Image of the container. */
  readonly image: string;
  /** Version of the chart and of the deployed operator, a semantic version. @default 0.1.0 */
  readonly version?: string;
}

/** Generated files by path below the output folder, with slashes. */
export type GeneratedFiles = ReadonlyMap<string, string>;
