import type { OperatorGraph } from '@kctl/operator';

/** What manifests are made of. */
export interface ManifestInput {
  readonly graph: OperatorGraph;
  /** Image of the container. */
  readonly image: string;
}

/** Generated files by path below the output folder, with slashes. */
export type GeneratedFiles = ReadonlyMap<string, string>;
