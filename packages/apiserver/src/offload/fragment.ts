/** Additions of a custom resource to OpenAPI documents, as plain data that threads hand over. */

/** A member of an object, by its name. */
export type Member = readonly [name: string, json: string];

/** Additions of one version of a custom resource to a document, as members of its paths and of its schemas, in JSON. */
export interface Fragment {
  readonly paths: readonly Member[];
  readonly schemas: readonly Member[];
  /** Names of the shared schemas that it refers to. */
  readonly shared: ReadonlySet<string>;
}

/** An OpenAPI v2 document in parts, so that what custom resources add can stand among the others. */
export interface PartsV2 {
  /** Bytes before the paths. */
  readonly start: Uint8Array;
  readonly paths: readonly Uint8Array[];
  readonly definitions: readonly Uint8Array[];
  /** Bytes after the definitions. */
  readonly end: Uint8Array;
}

/** Additions of one version of a custom resource to the v2 document. */
export interface FragmentV2 {
  readonly paths: string;
  readonly definitions: string;
  readonly protobuf: PartsV2;
}

/** Job to make the additions of one version of a custom resource to a document from the JSON of its definition. */
export interface FragmentJob<Form extends 'v2' | 'v3' = 'v2' | 'v3'> {
  readonly type: Form extends 'v2' ? 'openApiV2' : 'openApiV3';
  /** The CustomResourceDefinition as JSON. */
  readonly crd: string;
  readonly version: string;
}
