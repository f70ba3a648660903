// Keeps one server, filled once, for all rounds of a benchmark: host.ts <embedded|real|program.ts> [<seed.ts>].
// Sends where it is to the process that forked it, and ends with it.
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createHttpClient } from '@kctl/client-http';
                                                    
import { connectionTo, writeServerInfo } from './server-info.js';
import { startEmbedded, startProgram, startReal } from './start.js';
                                                

/** What a module that fills a server exports. */
                             
                                                       
 

/** What the host answers. */
                                                                                                            

const [kind = 'embedded', seedProgram] = process.argv.slice(2);
const answer = (message            )       => void process.send?.(message);

function start()                         {
  if (kind === 'embedded') return startEmbedded();
  if (kind === 'real') return startReal();
  return startProgram([...process.execArgv, kind], 'prepared answers');
}

try {
  const server = await start();
  const path = writeServerInfo(server.info);
  process.once('disconnect', () => {
    rmSync(dirname(path), { recursive: true, force: true });
    void server.stop().finally(() => process.exit(0));
  });
  if (seedProgram !== undefined) {
    const { seed } = (await import(pathToFileURL(seedProgram).href))              ;
    await using client = createHttpClient({ connection: connectionTo(server.info) });
    await seed(client);
  }
  answer({ path, version: server.version });
} catch (error) {
  answer({ failure: error instanceof Error ? error.message : String(error) });
  process.disconnect();
}
