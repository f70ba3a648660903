// Sends a LIST whenever it is told to, and answers with the number of its bytes.
import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';
                                                            

const { server, path } = workerData                                        ;
const pool = new Pool(server.url, { connections: 1, connect: { ca: server.ca } });

parentPort?.on('message', () => {
  void (async () => {
    const headers = { authorization: `Bearer ${server.token}`, accept: 'application/json' };
    const { body, statusCode } = await pool.request({ method: 'GET', path, headers });
    if (statusCode !== 200) throw new Error(`LIST: ${statusCode}`);
    let bytes = 0;
    for await (const chunk of body) bytes += (chunk          ).length;
    parentPort?.postMessage(bytes);
  })();
});
