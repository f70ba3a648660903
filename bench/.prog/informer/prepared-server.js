import { fork } from 'node:child_process';
import { join } from 'node:path';
                                              

/** By what they serve. */
const started = new Map                         ();

/**
 * The URL of the server of one encoding and size. It is started once, as preparing the bytes takes longer than most measurements;
 * each client has it for itself, one after the other. It ends with this process.
 *
 * @param encoder the program that turns JSON into protobuf
 */
export function preparedServer(
  encoding          ,
  { objects, events }                                                       ,
  encoder                   ,
)                  {
  const what = [encoding, objects, events].join(' ');
  let url = started.get(what);
  if (url === undefined) started.set(what, (url = start([encoding, objects, events, ...encoder])));
  return url;
}

async function start(args                   )                  {
  const typescript = join(import.meta.dirname, '..', '..', '..', 'scripts', 'typescript.mjs');
  const server = fork(join(import.meta.dirname, 'server.ts'), args, {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    execArgv: ['--import', typescript],
  });
  const url = await new Promise        ((resolve, reject) => {
    server.stdout?.once('data', (line        ) => resolve(line.toString().trim()));
    server.once('exit', (code) => reject(new Error(`the server ended with ${String(code)} before it listened`)));
  });
  server.stdout?.destroy();
  server.unref();
  server.channel?.unref();
  return url;
}
