// Sends one AdmissionReview again and again, one after the other on each connection: kept alive, TLS, HTTP/1.1, as the
// API server calls webhooks behind a Service. It does as little as it can for a request, so that the server is what limits.
import { connect,                } from 'node:tls';
import { pod } from '../informer/dataset.js';

/** The request as bytes: a CREATE of a Pod. */
export function reviewRequest(path        )         {
  const body = JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: '9f8e7d6c-5b4a-4321-8765-0123456789ab',
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      requestKind: { group: '', version: 'v1', kind: 'Pod' },
      requestResource: { group: '', version: 'v1', resource: 'pods' },
      name: 'pod-0',
      namespace: 'default',
      operation: 'CREATE',
      userInfo: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
      object: pod(0, 1, 1),
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  });
  const head = [
    `POST ${path}?timeout=10s HTTP/1.1`,
    'host: localhost',
    'accept: application/json, */*',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

const allowed = '"allowed":true';

/** One connection. */
class Connection {
           #socket           ;
           #request        ;
  #received           = [];
  #onAnswer                                        ;

  constructor(socket           , request        ) {
    this.#socket = socket;
    this.#request = request;
    socket.setNoDelay(true);
    socket.on('data', (chunk        ) => this.#take(chunk));
  }

  /** @throws Error when the review is not allowed, or the connection ends */
  async ask()                {
    const answer = await new Promise        ((resolve, reject) => {
      this.#onAnswer = resolve;
      this.#socket.once('error', reject);
      this.#socket.write(this.#request);
    });
    this.#socket.removeAllListeners('error');
    if (!answer.includes(allowed)) throw new Error(`the review was not allowed: ${answer.slice(0, 500)}`);
  }

  close()       {
    this.#socket.destroy();
  }

  #take(chunk        )       {
    this.#received.push(chunk);
    const text = Buffer.concat(this.#received).toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = /content-length: (\d+)/i.exec(text.slice(0, end))?.[1];
    if (length === undefined) throw new Error(`an answer without a length: ${text.slice(0, end)}`);
    if (text.length < end + 4 + Number(length)) return;
    this.#received = [];
    this.#onAnswer?.(text);
  }
}

                             
                          
                                     
                               
 

/** A load of `concurrency` connections; they stay open from one run to the next. */
                       
                                          
                
 

export async function openLoad(
  { port, path, ca }                                                                       ,
  concurrency        ,
)                {
  const request = reviewRequest(path);
  const connections = await Promise.all(
    Array.from({ length: concurrency }, async () => {
      const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' });
      await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
      socket.removeAllListeners('error');
      return new Connection(socket, request);
    }),
  );
  return {
    async run(count) {
      const times = new Float64Array(count);
      let next = 0;
      const start = performance.now();
      await Promise.all(
        connections.map(async (connection) => {
          for (let index = next++; index < count; index = next++) {
            const asked = performance.now();
            await connection.ask();
            times[index] = performance.now() - asked;
          }
        }),
      );
      return { wallMs: performance.now() - start, times };
    },
    close: () => {
      for (const connection of connections) connection.close();
    },
  };
}
