// A neutral API server that makes what it sends while it sends it: server.ts <size as JSON>
// `/storm?events=N` sends N events as fast as they are taken, `/paced?events=N&perSecond=R` sends them one by one.
                                                
import { createServer } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { objectText } from './objects.js';
                                      
import { firstVersion, group, kindName, objectsPerKind, stormEvent } from './size.js';

const size = JSON.parse(process.argv[2] ?? '')        ;
const chunkLength = 64 * 1024;
const watches = new Map                        ();
let version = firstVersion + size.objects;

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const number = (name        )         => Number(url.searchParams.get(name) ?? 'NaN');
  if (url.pathname === '/storm') finish(response, storm(number('events')));
  else if (url.pathname === '/paced') finish(response, paced(number('events'), number('perSecond')));
  else answer(url, response);
});

function finish(response                , work               )       {
  work.then(
    () => response.writeHead(204).end(),
    (error         ) => response.writeHead(500).end(String(error)),
  );
}

function answer(url     , response                )       {
  const plural = new RegExp(`^/apis/${group}/v1/thing(\\d{3})s$`).exec(url.pathname)?.[1];
  const type = { 'content-type': 'application/json' };
  if (plural === undefined) {
    response.writeHead(404, type).end(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":404}`);
  } else if (url.searchParams.get('sendInitialEvents') === 'true') {
    const message = 'sendInitialEvents is forbidden';
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Invalid', code: 422, message };
    response.writeHead(422, type).end(JSON.stringify(status));
  } else if (url.searchParams.get('watch') === 'true' || url.searchParams.get('watch') === '1') {
    response.writeHead(200, type);
    response.flushHeaders();
    watches.set(Number(plural), response);
  } else {
    response.writeHead(200, type);
    void list(Number(plural), response);
  }
}

async function list(kind        , response                )                {
  const perKind = objectsPerKind(size);
  const metadata = `{"resourceVersion":"${firstVersion + size.objects}"}`;
  let text = `{"apiVersion":"${group}/v1","kind":"${kindName(kind)}List","metadata":${metadata},"items":[`;
  for (let object = 0; object < perKind; object++) {
    text += `${object === 0 ? '' : ','}${objectText(size, { kind, object, version: firstVersion + object })}`;
    if (text.length < chunkLength) continue;
    await send(response, text);
    text = '';
  }
  response.end(`${text}]}\n`);
}

function frame(nth        , sent         )         {
  const { type, kind, object } = stormEvent(size, nth);
  const stamped = sent === undefined ? {} : { sent };
  return `{"type":"${type}","object":${objectText(size, { kind, object, version: ++version, ...stamped })}}\n`;
}

async function storm(events        )                {
  const texts = new Array        (size.kinds).fill('');
  for (let nth = 0; nth < events; nth++) {
    const kind = nth % size.kinds;
    const text = `${texts[kind] ?? ''}${frame(nth)}`;
    texts[kind] = text;
    if (text.length < chunkLength && nth < events - size.kinds) continue;
    texts[kind] = '';
    await send(watchOf(kind), text);
  }
}

async function paced(events        , perSecond        )                {
  const begin = performance.now();
  for (let nth = 0; nth < events; nth++) {
    const wait = begin + (nth * 1000) / perSecond - performance.now();
    if (wait > 0) await sleep(wait);
    await send(watchOf(nth % size.kinds), frame(nth, process.hrtime.bigint()));
  }
}

function watchOf(kind        )                 {
  const response = watches.get(kind);
  if (response === undefined) throw new Error(`${kindName(kind)} is not watched`);
  return response;
}

async function send(response                , text        )                {
  if (!response.write(text)) await once(response, 'drain');
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) console.log(`http://127.0.0.1:${address.port}`);
});
process.on('disconnect', () => process.exit(0));
