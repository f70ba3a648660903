// A neutral API server: it writes bytes that were prepared before the first request, as fast as they are taken.
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { firstVersion, pod } from './dataset.js';

const [objects = 0, events = 0] = process.argv.slice(2).map(Number);
const chunkBytes = 64 * 1024;

/** Joins texts to chunks of about 64 KB. */
function chunksOf(texts: Iterable<string>): Buffer[] {
  const chunks: Buffer[] = [];
  let parts: string[] = [];
  let size = 0;
  for (const text of texts) {
    parts.push(text);
    size += text.length;
    if (size < chunkBytes) continue;
    chunks.push(Buffer.from(parts.join('')));
    parts = [];
    size = 0;
  }
  chunks.push(Buffer.from(parts.join('')));
  return chunks;
}

function* listTexts(): Generator<string> {
  yield `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${firstVersion + objects}"},"items":[`;
  for (let i = 0; i < objects; i++) {
    // Items of a built-in list carry neither kind nor apiVersion.
    const {
      kind: _kind,
      apiVersion: _apiVersion,
      ...item
    } = pod(i, objects, firstVersion + 1 + i) as Record<string, unknown>;
    yield `${i === 0 ? '' : ','}${JSON.stringify(item)}`;
  }
  yield ']}\n';
}

const prepared = Math.min(events, 48_000);
const marker = '"resourceVersion":"';
const frames: { readonly chunk: Buffer; readonly versionsAt: readonly number[] }[] = [];
for (let next = 0; next < prepared; ) {
  const parts: Buffer[] = [];
  const versionsAt: number[] = [];
  let size = 0;
  while (size < chunkBytes && next < prepared) {
    const object = pod((next * 7919) % objects, objects, firstVersion + next);
    const text = Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
    versionsAt.push(size + text.indexOf(marker) + marker.length);
    parts.push(text);
    size += text.length;
    next++;
  }
  frames.push({ chunk: Buffer.concat(parts), versionsAt });
}
const list = chunksOf(listTexts());

async function write(response: ServerResponse, chunk: Buffer): Promise<void> {
  if (response.write(chunk)) return;
  await new Promise<void>((resolve) => response.once('drain', resolve));
}

async function sendEvents(response: ServerResponse): Promise<void> {
  let version = firstVersion + objects;
  for (let sent = 0; sent < events; ) {
    for (const { chunk, versionsAt } of frames) {
      for (const at of versionsAt) chunk.write(String(++version), at, 'latin1');
      await write(response, chunk);
      sent += versionsAt.length;
      if (sent >= events) break;
    }
  }
}

let hasSentEvents = false;
const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const json = { 'content-type': 'application/json' };
  if (url.searchParams.get('sendInitialEvents') === 'true') {
    // One way to get the state for all subjects: this server says that it cannot stream it.
    response.writeHead(422, json);
    response.end(
      JSON.stringify({
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        reason: 'Invalid',
        code: 422,
        message: 'sendInitialEvents is forbidden',
      }),
    );
  } else if (url.searchParams.has('watch') && url.searchParams.get('watch') !== 'false') {
    response.writeHead(200, json);
    response.flushHeaders();
    if (hasSentEvents) return;
    hasSentEvents = true;
    void sendEvents(response);
  } else if (url.pathname === '/api/v1/pods') {
    response.writeHead(200, json);
    void (async () => {
      for (const chunk of list) await write(response, chunk);
      response.end();
    })();
  } else {
    response.writeHead(404, json);
    response.end('{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}');
  }
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) console.log(`http://127.0.0.1:${address.port}`);
});
process.on('disconnect', () => process.exit(0));
