import type { UntypedObject } from '@kctl/apimachinery';
import { jsonText, goQuoted } from '@kctl/crd/internal/engine';
import type { ResourceDefinition, RowContent, TableColumn } from '../resource/resource.js';
import { protobufType } from '../protobuf/envelope.js';
import { longBodyOf, metadataText, objectText } from '../storage/long-object.js';
import { itemText, wholeText, type ObjectVersion, type Rendering } from '../storage/version.js';
import type { WatchShape } from './shape.js';
import { badRequest } from '../protocol/status.js';
import type { ListMetadata } from '../protocol/list-metadata.js';
import type { Negotiated } from './negotiate.js';
import { pendingJob, type PendingWork } from './pending-work.js';
import { partialProtobuf, wholeProtobuf, type ProtobufShape } from './protobuf-shapes.js';

/** How objects and lists of one resource are shown to one client. */
export interface Shape {
  /** The JSON of one object. */
  one(rendering: Rendering): string;
  /** Parts of a list before its items, and after them. */
  open(metadata: ListMetadata): string;
  item(rendering: Rendering): string;
  /** The order of items, if it is not by name. */
  readonly order?: (a: Rendering, b: Rendering) => number;
  readonly close: string;
  /** Whether a list without items shows them as null. */
  readonly hasNullItems?: boolean;
  readonly watch: WatchShape;
  /** Returns the work to do elsewhere before an object is shown; undefined if there is no such work. */
  pending?(rendering: Rendering): PendingWork | undefined;
  /** Shape that replaces JSON if protobuf was negotiated. */
  readonly protobuf?: ProtobufShape;
}

/** A whole list. */
export function listText(shape: Shape, metadata: ListMetadata, items: string): string {
  const open = shape.open(metadata);
  if (items === '' && shape.hasNullItems === true) return `${open.slice(0, -1)}null}`;
  return `${open}${items}${shape.close}`;
}

const metaVersion = 'meta.k8s.io/v1';

function partialText({ object }: Rendering): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"${metaVersion}","metadata":${metadataText(object)}}`;
}

function listMetadataText(metadata: ListMetadata, alwaysContinue: boolean): string {
  const { continue: token = '', remainingItemCount, resourceVersion } = metadata;
  return jsonText({
    ...((token !== '' || alwaysContinue) && { continue: token }),
    ...(remainingItemCount !== undefined && { remainingItemCount }),
    resourceVersion,
  });
}

const encoder = new TextEncoder();

/** One line of a watch. */
function watchLine(type: string, objectText: string): Uint8Array {
  return encoder.encode(`{"type":"${type}","object":${objectText}}\n`);
}

/** Parts that the lines of a watch are made of. */
interface Lines {
  readonly id: string;
  readonly definition: ResourceDefinition;
  readonly objectText: (version: ObjectVersion, isFirst: boolean) => string;
  readonly bookmarkText: BookmarkText;
  readonly hasPreamble: boolean;
  readonly pending?: WatchShape['pending'];
}

function lineShape({ id, definition, objectText, bookmarkText, hasPreamble, pending }: Lines): WatchShape {
  return {
    id,
    definition,
    event: (type, version, isFirst) => watchLine(type, objectText(version, isFirst)),
    bookmark: (resourceVersion, annotations) => watchLine('BOOKMARK', bookmarkText(resourceVersion, annotations)),
    error: (status) => watchLine('ERROR', jsonText(status)),
    hasPreamble,
    ...(pending !== undefined && { pending }),
  };
}

type BookmarkText = (resourceVersion: string, annotations: Readonly<Record<string, string>> | undefined) => string;

function bookmark(kind: string, apiVersion: string): BookmarkText {
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
    watch: lineShape({
      id: `whole ${apiVersion} ${kind}`,
      definition,
      objectText: (version) => wholeText(definition, version.in(definition)),
      bookmarkText: bookmark(kind, apiVersion),
      hasPreamble: false,
    }),
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
    watch: lineShape({
      id: `partial ${definition.apiVersion} ${definition.kind}`,
      definition,
      objectText: (version) => partialText(version.in(definition)),
      bookmarkText: bookmark('PartialObjectMetadata', metaVersion),
      hasPreamble: false,
    }),
  };
}

/** Content of a Table's rows besides cells. */
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
  const row = (rendering: Rendering): string => {
    const isKept = longBodyOf(rendering.object)?.isRead === false;
    const kept = isKept ? rendering.row : undefined;
    const { cells, conditions } = kept ?? rowOf(definition, rendering.object, now());
    const stated = conditions.length === 0 ? '' : `"conditions":${jsonText(conditions)},`;
    return `{"cells":${jsonText(cells)},${stated}"object":${objectOf[include](rendering)}}`;
  };
  const pending = (rendering: Rendering): PendingWork | undefined => pendingRow(definition, rendering, now());
  const columns = columnsText(definition.columns);
  const { rowOrder } = definition;
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
    ...(rowOrder !== undefined && { order: (a, b) => rowOrder(a.object, b.object) }),
    close: ']}',
    pending,
    watch: lineShape({
      pending: (version) => pending(version.in(definition)),
      id: `table ${include} ${definition.apiVersion} ${definition.kind}`,
      definition,
      objectText: (version: ObjectVersion, isFirst) => single(version.in(definition), isFirst ? columns : 'null'),
      bookmarkText: (resourceVersion, annotations) =>
        `${head(jsonText({ resourceVersion }), 'null')}{"cells":${jsonText(definition.columns.map(() => null))},"object":${bookmark('PartialObjectMetadata', metaVersion)(resourceVersion, annotations)}}]}`,
      hasPreamble: true,
    }),
  };
}

function rowOf(definition: ResourceDefinition, object: UntypedObject, nowMs: number): RowContent {
  return { cells: definition.cells(object, nowMs), conditions: definition.rowConditions?.(object) ?? [] };
}

/** Rows are made anew for each answer that shows them, since they contain ages. */
function pendingRow(definition: ResourceDefinition, rendering: Rendering, nowMs: number): PendingWork | undefined {
  const long = longBodyOf(rendering.object);
  if (long === undefined || long.isRead || rendering.row?.nowMs === nowMs) return undefined;
  const { group, version, kind, columnSource: columns } = definition;
  return pendingJob(rendering, `row ${nowMs}`, {
    job: () => {
      const text = objectText(rendering.object);
      return { type: 'row' as const, group, version, kind, ...(columns !== undefined && { columns }), text, nowMs };
    },
    keep: (row) => void (rendering.row = { nowMs, ...row }),
  });
}

function isInclude(text: string): text is IncludeObject {
  return text === 'None' || text === 'Metadata' || text === 'Object';
}

function unknownInclude(text: string): Error {
  return badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${goQuoted(text)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** The shape that a client negotiated. @throws StatusError 400 if rows cannot include the requested object */
export function shapeFor(
  definition: ResourceDefinition,
  negotiated: Negotiated,
  options: { readonly includeObject: string | null; readonly now: () => number },
): Shape {
  const isProtobuf = negotiated.mediaType === protobufType;
  if (negotiated.transform === undefined)
    return isProtobuf ? withProtobuf(wholeShape(definition), wholeProtobuf(definition)) : wholeShape(definition);
  switch (negotiated.transform) {
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList':
      return isProtobuf
        ? withProtobuf(partialShape(definition), partialProtobuf(definition))
        : partialShape(definition);
    case 'Table': {
      const include = options.includeObject || 'Metadata';
      if (!isInclude(include)) throw unknownInclude(include);
      return tableShape(definition, include, options.now);
    }
  }
}

function withProtobuf(shape: Shape, protobuf: ProtobufShape): Shape {
  return { ...shape, protobuf, pending: (rendering) => protobuf.pending(rendering), watch: protobuf.watch };
}
