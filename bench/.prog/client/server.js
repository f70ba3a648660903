// Answers with prepared bytes over TLS, HTTP/1.1 kept alive: server.ts <list size>. It does next to nothing for a
// request, so that it is never what limits a client. Prints one line of JSON when it listens; ends with its parent.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:tls';
                                          
import { createCertificateAuthority } from '@kctl/testing';
import { firstVersion, pod } from '../informer/dataset.js';

const objects = Number(process.env['KCTL_BENCH_LIST'] ?? '50000');
const chunkBytes = 256 * 1024;

function answer(status        , body                 )         {
  const bytes = Buffer.from(body);
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** The list as it is sent, in chunks: one string of this size would be near V8's limit. */
function listAnswer()           {
  const chunks           = [];
  let text = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${firstVersion + objects}"},"items":[`;
  for (let i = 0; i < objects; i++) {
    // Items of a built-in list carry neither kind nor apiVersion.
    const {
      kind: _kind,
      apiVersion: _apiVersion,
      ...item
    } = { ...pod(i, objects, firstVersion + 1 + i) }                           ;
    text += `${i === 0 ? '' : ','}${JSON.stringify(item)}`;
    if (text.length < chunkBytes) continue;
    chunks.push(Buffer.from(text));
    text = '';
  }
  chunks.push(Buffer.from(`${text}]}\n`));
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  return [Buffer.from(head), ...chunks];
}

const one = JSON.stringify(pod(0, objects, firstVersion));
const ok = answer('200 OK', one);
const created = answer('201 Created', one);
const missing = answer(
  '404 Not Found',
  '{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}',
);
let list                      ;

async function sendList(socket           )                {
  list ??= listAnswer();
  for (const chunk of list) {
    if (!socket.write(chunk)) await new Promise      ((resolve) => socket.once('drain', resolve));
    if (socket.destroyed) return;
  }
}

function reply(socket           , head        )       {
  const [method, target = ''] = head.slice(0, head.indexOf('\r\n')).split(' ');
  if (method === 'POST') socket.write(created);
  else if (method === 'PATCH' || target.startsWith('/api/v1/namespaces/team-000/pods/pod-0')) socket.write(ok);
  else if (method === 'GET' && target.startsWith('/api/v1/pods')) void sendList(socket);
  else socket.write(missing);
}

const authority = await createCertificateAuthority('bench', Date.now());
const { certPem, keyPem } = await authority.issueServing({
  commonName: 'bench-server',
  dnsNames: ['localhost'],
  ipAddresses: ['127.0.0.1'],
});
const server = createServer({ cert: certPem, key: keyPem }, (socket) => {
  let waiting = '';
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (data        ) => {
    waiting += data.toString('latin1');
    for (;;) {
      const end = waiting.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = waiting.slice(0, end + 2);
      if (/\r\ntransfer-encoding:/i.test(head)) throw new Error('a request of unknown length');
      const whole = end + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? '0');
      if (waiting.length < whole) return;
      waiting = waiting.slice(whole);
      reply(socket, head);
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no address');
  const ready = {
    url: `https://127.0.0.1:${address.port}`,
    certificateAuthority: authority.ca.certPem,
    token: randomBytes(16).toString('hex'),
  };
  console.log(JSON.stringify(ready));
});
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit(0);
}, 1000);
