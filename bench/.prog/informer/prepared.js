// The bytes of a list and of watch events, made before the first request.
import { firstVersion, pod, workload } from './dataset.js';
import { encodeAsProtobuf } from './protobuf.js';

/** What is served, and how it is encoded. */
export const encodings = ['pods', 'workloads', 'protobuf']         ;
                                                  

/** Frames of about 64 KB together, and where in them the versions of objects are. */
                         
                         
                                         
 

                           
                        
                            
                             
                                                                             
                                        
                                     
 

                       
                           
                          
 

const chunkBytes = 64 * 1024;
/** More than that are sent again, with other versions. */
const mostFrames = 48_000;
const json = 'application/json';
const protobuf = 'application/vnd.kubernetes.protobuf';

/** @param encoder the program that turns JSON into protobuf; only for that */
export async function prepare(encoding          , size      , encoder                   )                    {
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

                                                                   

function* listed(make       , objects        )                    {
  for (let i = 0; i < objects; i++) yield make(i, objects, firstVersion + 1 + i);
}

function* changed(make       , { objects, events }      )                    {
  for (let next = 0; next < Math.min(events, mostFrames); next++)
    yield make((next * 7919) % objects, objects, firstVersion + next);
}

function* watchEvents(make       , size      )                    {
  for (const object of changed(make, size)) yield Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
}

/** Items of a built-in list carry neither kind nor apiVersion. */
function* podList(objects        )                    {
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
function* workloadList(objects        )                    {
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

function madeOf(texts                        , objects        )                         {
  if (objects > mostPrepared) return () => chunksOf(texts());
  const chunks = [...chunksOf(texts())];
  return () => chunks;
}

/** Joins texts to chunks of about 64 KB. */
function* chunksOf(texts                  )                    {
  let parts           = [];
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
function* lengthDelimited(bytes        )                    {
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** Finds where the version of the nth object is in its frame. */
                                                          

const inJson              = (frame) => after(frame, '"resourceVersion":"');
/** Field 6 of the metadata, a text of ten bytes. */
const inProtobuf              = (frame, nth) => after(frame, `\x32\x0a${firstVersion + nth}`) - 10;

function after(frame        , marker        )         {
  const at = frame.indexOf(marker, 0, 'latin1');
  if (at < 0) throw new Error('there is a frame without a version');
  return at + marker.length;
}

function inChunks(frames                  , findVersion             )           {
  const chunks           = [];
  let parts           = [];
  let versionsAt           = [];
  let size = 0;
  let nth = 0;
  const close = ()       => {
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
