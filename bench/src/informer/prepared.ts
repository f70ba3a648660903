// The bytes of a list and of watch events, made before the first request.
import { firstVersion, pod, workload } from './dataset.js';
import { encodeAsProtobuf } from './protobuf.js';

/** What is served, and how it is encoded. */
export const encodings = ['pods', 'workloads', 'protobuf'] as const;
export type Encoding = (typeof encodings)[number];

/** Frames of about 64 KB together, and where in them the versions of objects are. */
export interface Frames {
  readonly chunk: Buffer;
  readonly versionsAt: readonly number[];
}

export interface Prepared {
  readonly path: string;
  readonly listType: string;
  readonly watchType: string;
  /** Prepared, unless there are so many that it is made while it is sent. */
  readonly list: () => Iterable<Buffer>;
  readonly frames: readonly Frames[];
}

export interface Size {
  readonly objects: number;
  readonly events: number;
}

const chunkBytes = 64 * 1024;
/** More than that are sent again, with other versions. */
const mostFrames = 48_000;
const json = 'application/json';
const protobuf = 'application/vnd.kubernetes.protobuf';

/** @param encoder the program that turns JSON into protobuf; only for that */
export async function prepare(encoding: Encoding, size: Size, encoder: readonly string[]): Promise<Prepared> {
  const { objects } = size;
  switch (encoding) {
    case 'pods':
      return {
        path: '/api/v1/pods',
        listType: json,
        watchType: json,
        list: madeOf(() => podList(objects), objects),
        frames: inChunks(watchEvents(pod, size), inJson),
      };
    case 'workloads':
      return {
        path: '/apis/bench.kctl.dev/v1/workloads',
        listType: json,
        watchType: json,
        list: madeOf(() => workloadList(objects), objects),
        frames: inChunks(watchEvents(workload, size), inJson),
      };
    case 'protobuf': {
      const list = await encodeAsProtobuf([...encoder, 'list'], listed(pod, objects));
      const frames = await encodeAsProtobuf([...encoder, 'watch'], changed(pod, size));
      return {
        path: '/api/v1/pods',
        listType: protobuf,
        watchType: `${protobuf};stream=watch`,
        list: () => list,
        frames: inChunks(lengthDelimited(Buffer.concat(frames)), inProtobuf),
      };
    }
  }
}

type Maker = (i: number, count: number, version: number) => object;

function* listed(make: Maker, objects: number): Generator<object> {
  for (let i = 0; i < objects; i++) yield make(i, objects, firstVersion + 1 + i);
}

function* changed(make: Maker, { objects, events }: Size): Generator<object> {
  for (let next = 0; next < Math.min(events, mostFrames); next++)
    yield make((next * 7919) % objects, objects, firstVersion + next);
}

function* watchEvents(make: Maker, size: Size): Generator<Buffer> {
  for (const object of changed(make, size)) yield Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
}

/** Items of a built-in list carry neither kind nor apiVersion. */
function* podList(objects: number): Generator<string> {
  yield `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${firstVersion + objects}"},"items":[`;
  let separator = '';
  for (const object of listed(pod, objects)) {
    const item = JSON.stringify({ ...object, kind: undefined, apiVersion: undefined });
    yield separator + item;
    separator = ',';
  }
  yield ']}\n';
}

/** Those of a list of custom resources do, and come before the rest. */
function* workloadList(objects: number): Generator<string> {
  yield '{"apiVersion":"bench.kctl.dev/v1","items":[';
  let separator = '';
  for (const object of listed(workload, objects)) {
    yield separator + JSON.stringify(object);
    separator = ',';
  }
  yield `],"kind":"WorkloadList","metadata":{"continue":"","resourceVersion":"${firstVersion + objects}"}}\n`;
}

/** More objects than these do not fit into memory beside those who list them. */
const mostPrepared = 200_000;

function madeOf(texts: () => Iterable<string>, objects: number): () => Iterable<Buffer> {
  if (objects > mostPrepared) return () => chunksOf(texts());
  const chunks = [...chunksOf(texts())];
  return () => chunks;
}

/** Joins texts to chunks of about 64 KB. */
function* chunksOf(texts: Iterable<string>): Generator<Buffer> {
  let parts: string[] = [];
  let size = 0;
  for (const text of texts) {
    parts.push(text);
    size += text.length;
    if (size < chunkBytes) continue;
    yield Buffer.from(parts.join(''));
    parts = [];
    size = 0;
  }
  yield Buffer.from(parts.join(''));
}

/** Frames with their four bytes of length before them. */
function* lengthDelimited(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** Finds where the version of the nth object is in its frame. */
type FindVersion = (frame: Buffer, nth: number) => number;

const inJson: FindVersion = (frame) => after(frame, '"resourceVersion":"');
/** Field 6 of the metadata, a text of ten bytes. */
const inProtobuf: FindVersion = (frame, nth) => after(frame, `\x32\x0a${firstVersion + nth}`) - 10;

function after(frame: Buffer, marker: string): number {
  const at = frame.indexOf(marker, 0, 'latin1');
  if (at < 0) throw new Error('there is a frame without a version');
  return at + marker.length;
}

function inChunks(frames: Iterable<Buffer>, findVersion: FindVersion): Frames[] {
  const chunks: Frames[] = [];
  let parts: Buffer[] = [];
  let versionsAt: number[] = [];
  let size = 0;
  let nth = 0;
  const close = (): void => {
    if (parts.length > 0) chunks.push({ chunk: Buffer.concat(parts), versionsAt });
    parts = [];
    versionsAt = [];
    size = 0;
  };
  for (const frame of frames) {
    versionsAt.push(size + findVersion(frame, nth++));
    parts.push(frame);
    size += frame.length;
    if (size >= chunkBytes) close();
  }
  close();
  return chunks;
}
