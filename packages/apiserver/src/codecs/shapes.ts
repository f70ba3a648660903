import type { ResourceDefinition, TableColumn } from '../registry/resource.js';
import { jsonText } from '../storage/json-text.js';
import { itemText, wholeText, type ObjectVersion, type Rendering } from '../storage/version.js';
import type { WatchShape } from '../watch/shape.js';
import type { Negotiated } from './negotiate.js';

/** Metadata of a list. */
export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** How objects and lists of one resource are shown to one client. */
export interface Shape {
  /** The JSON of one object. */
  one(rendering: Rendering): string;
  /** What stands before the items of a list, and after them. */
  open(metadata: ListMetadata): string;
  item(rendering: Rendering): string;
  readonly close: string;
  /** Where a list without items shows them as null. */
  readonly hasNullItems?: boolean;
  readonly watch: WatchShape;
}

/** A whole list. */
export function listText(shape: Shape, metadata: ListMetadata, items: string): string {
  const open = shape.open(metadata);
  if (items === '' && shape.hasNullItems === true) return `${open.slice(0, -1)}null}`;
  return `${open}${items}${shape.close}`;
}

const metaVersion = 'meta.k8s.io/v1';

function partialText({ object }: Rendering): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"${metaVersion}","metadata":${jsonText(object.metadata)}}`;
}

function listMetadataText(metadata: ListMetadata, alwaysContinue: boolean): string {
  const { continue: token = '', remainingItemCount, resourceVersion } = metadata;
  return jsonText({
    ...((token !== '' || alwaysContinue) && { continue: token }),
    ...(remainingItemCount !== undefined && { remainingItemCount }),
    resourceVersion,
  });
}

function bookmark(kind: string, apiVersion: string): WatchShape['bookmarkText'] {
  return (resourceVersion, annotations) =>
    jsonText({
      kind,
      apiVersion,
      metadata: { resourceVersion, ...(annotations !== undefined && { annotations }) },
    });
}

/** Objects as they are. */
function wholeShape(definition: ResourceDefinition): Shape {
  const { apiVersion, kind, listKind, isCustom } = definition;
  return {
    one: (rendering) => wholeText(definition, rendering),
    open: (metadata) =>
      `{"kind":${JSON.stringify(listKind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":${listMetadataText(metadata, isCustom)},"items":[`,
    item: (rendering) => itemText(definition, rendering),
    close: ']}',
    watch: {
      id: `whole ${apiVersion} ${kind}`,
      definition,
      objectText: (version) => wholeText(definition, version.in(definition)),
      bookmarkText: bookmark(kind, apiVersion),
      hasPreamble: false,
    },
  };
}

/** Metadata alone. */
function partialShape(definition: ResourceDefinition): Shape {
  return {
    one: partialText,
    open: (metadata) =>
      `{"kind":"PartialObjectMetadataList","apiVersion":"${metaVersion}","metadata":${listMetadataText(metadata, false)},"items":[`,
    item: partialText,
    close: ']}',
    hasNullItems: true,
    watch: {
      id: `partial ${definition.apiVersion} ${definition.kind}`,
      definition,
      objectText: (version) => partialText(version.in(definition)),
      bookmarkText: bookmark('PartialObjectMetadata', metaVersion),
      hasPreamble: false,
    },
  };
}

/** What a Table's rows carry besides cells. */
type IncludeObject = 'None' | 'Metadata' | 'Object';

function columnsText(columns: readonly TableColumn[]): string {
  return jsonText(
    columns.map(({ name, type, format, description, priority }) => ({ name, type, format, description, priority })),
  );
}

function tableShape(definition: ResourceDefinition, include: IncludeObject, now: () => number): Shape {
  const objectOf: Record<IncludeObject, (rendering: Rendering) => string> = {
    None: () => 'null',
    Metadata: partialText,
    Object: (rendering) => wholeText(definition, rendering),
  };
  const row = (rendering: Rendering): string =>
    `{"cells":${jsonText(definition.cells(rendering.object, now()))},"object":${objectOf[include](rendering)}}`;
  const columns = columnsText(definition.columns);
  const head = (metadata: string, definitions: string): string =>
    `{"kind":"Table","apiVersion":"${metaVersion}","metadata":${metadata},"columnDefinitions":${definitions},"rows":[`;
  const single = (rendering: Rendering, definitions: string): string => {
    const { resourceVersion } = rendering.object.metadata;
    return `${head(jsonText({ resourceVersion }), definitions)}${row(rendering)}]}`;
  };
  return {
    one: (rendering) => single(rendering, columns),
    open: (metadata) => head(listMetadataText(metadata, false), columns),
    item: row,
    close: ']}',
    watch: {
      id: `table ${include} ${definition.apiVersion} ${definition.kind}`,
      definition,
      objectText: (version: ObjectVersion, isFirst) => single(version.in(definition), isFirst ? columns : 'null'),
      bookmarkText: (resourceVersion, annotations) =>
        `${head(jsonText({ resourceVersion }), 'null')}{"cells":${jsonText(definition.columns.map(() => null))},"object":${bookmark('PartialObjectMetadata', metaVersion)(resourceVersion, annotations)}}]}`,
      hasPreamble: true,
    },
  };
}

function isInclude(text: string): text is IncludeObject {
  return text === 'None' || text === 'Metadata' || text === 'Object';
}

/** The shape that a client negotiated. */
export function shapeFor(
  definition: ResourceDefinition,
  negotiated: Negotiated,
  options: { readonly includeObject: string | null; readonly now: () => number },
): Shape {
  if (negotiated.transform === undefined) return wholeShape(definition);
  switch (negotiated.transform) {
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList':
      return partialShape(definition);
    case 'Table': {
      const include = options.includeObject ?? '';
      return tableShape(definition, isInclude(include) ? include : 'Metadata', options.now);
    }
  }
}
