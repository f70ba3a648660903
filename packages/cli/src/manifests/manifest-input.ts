import type { OperatorGraph } from '@kctl/operator';

/** What manifests are made of. */
export interface ManifestInput {
  readonly graph: OperatorGraph;
  /** Image of the container. */
  readonly image: string;
  /** Of the chart, and of what it deploys: a semantic version. @default 0.1.0 */
  readonly version?: string;
}

/** Generated files by path below the output folder, with slashes. */
export type GeneratedFiles = ReadonlyMap<string, string>;
