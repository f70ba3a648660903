// Watch connections that count what arrives and do nothing else: a client that decoded would be the slower side.
import { connect } from 'node:tls';
                                                            
import { EventCounter,              } from './event-counter.js';

/** Without an event for so long, events are missing and not late. */
const stallMs = 30_000;

                           
     
                                                                                                                   
                                                                                                 
     
                                          
                
 

/** What is watched, by how many, and in which form. */
                             
                        
                         
                          
                            
 

/** Opens watches over HTTP/1.1 and waits until each has been answered. */
export async function openWatchers(
  server            ,
  { path, count, accept, framing }            ,
)                    {
  const { hostname, port } = new URL(server.url);
  const counts = new Array        (count).fill(0);
  let total = 0;
  let goal = Infinity;
  let reached = Promise.withResolvers           ();
  const open = (_         , watcher        )                               =>
    new Promise((resolve, reject) => {
      const counter = new EventCounter(framing);
      let isOpen = false;
      const socket = connect({ host: hostname, port: Number(port), ca: server.ca });
      socket.on('data', (chunk        ) => {
        if (!isOpen) {
          const head = chunk.toString('latin1');
          if (!head.startsWith('HTTP/1.1 200')) {
            reject(new Error(head));
            return;
          }
          isOpen = true;
          resolve(socket);
        }
        const events = counter.count(chunk);
        total += events;
        counts[watcher] = (counts[watcher] ?? 0) + events;
        if (total >= goal) reached.resolve(undefined);
      });
      socket.on('error', reject);
      socket.on('close', () => {
        if (!isClosing) reached.reject(new Error('the server ended a watch'));
      });
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${server.token}\r\naccept: ${accept}\r\n\r\n`,
      );
    });
  let isClosing = false;
  const sockets = await Promise.all(Array.from({ length: count }, open));
  return {
    received: async (events) => {
      goal = total + events * count;
      const each = counts.map((had) => had + events);
      reached = Promise.withResolvers();
      let seen = total;
      const stall = setInterval(() => {
        if (total === seen) {
          const lacking = each.map((due, i) => due - (counts[i] ?? 0));
          reached.reject(new Error(`no event for ${stallMs} ms; the watchers lack ${lacking.join(', ')}`));
        }
        seen = total;
      }, stallMs);
      try {
        await reached.promise;
      } finally {
        clearInterval(stall);
      }
    },
    close: () => {
      isClosing = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}
