// A neutral API server: it writes bytes that were prepared before the first request, as fast as they are taken.
// server.ts <pods|workloads|protobuf> <objects> <events> [encoder…]; <events> is how many it may be asked for.
// `/events/N` makes it send N to the next watch; until then it sends none.
import { createServer } from 'node:http';
                                                
import { firstVersion } from './dataset.js';
import { encodings, prepare } from './prepared.js';

const [encoding = 'pods', objectsText = '0', eventsText = '0', ...encoder] = process.argv.slice(2);
const objects = Number(objectsText);
const mostEvents = Number(eventsText);
const known = encodings.find((each) => each === encoding);
if (known === undefined) throw new Error(`${encoding} is not known: expected ${encodings.join(', ')}`);
const { path, listType, watchType, list, frames } = await prepare(known, { objects, events: mostEvents }, encoder);

async function write(response                , chunk        )                {
  if (response.write(chunk)) return;
  await new Promise      ((resolve) => response.once('drain', resolve));
}

async function sendEvents(response                , events        )                {
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

let wanted = 0;
const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const json = { 'content-type': 'application/json' };
  if (url.pathname.startsWith('/events/')) {
    wanted = Number(url.pathname.slice('/events/'.length));
    const isKnown = Number.isSafeInteger(wanted) && wanted <= mostEvents;
    response.writeHead(isKnown ? 204 : 400).end();
  } else if (url.searchParams.get('sendInitialEvents') === 'true') {
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
    response.writeHead(200, { 'content-type': watchType });
    response.flushHeaders();
    const events = wanted;
    wanted = 0;
    void sendEvents(response, events);
  } else if (!(request.headers.accept ?? listType).includes(listType)) {
    response.writeHead(406, json);
    response.end(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotAcceptable","code":406}`);
  } else if (url.pathname === path) {
    response.writeHead(200, { 'content-type': listType });
    void (async () => {
      for (const chunk of list()) await write(response, chunk);
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
