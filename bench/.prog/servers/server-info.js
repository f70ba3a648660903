// What a subject, in whichever language, has to know of the server that it is measured on: a small JSON file.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

                             
                       
                      
                         
                                               
                                   
 

export function readServerInfo(path        )             {
  return JSON.parse(readFileSync(path, 'utf8'))              ;
}

/** Only its owner can read it: a token is in it. */
export function writeServerInfo(info            )         {
  const path = join(mkdtempSync(join(tmpdir(), 'kctl-bench-')), 'server.json');
  writeFileSync(path, JSON.stringify(info), { mode: 0o600 });
  return path;
}

/** The connection for `createHttpClient`. */
export function connectionTo({ url, ca, token }            )   
                          
                      
                                            
  {
  return { server: url, ca, user: { token } };
}
