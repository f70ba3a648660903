import { fork } from 'node:child_process';
import { join } from 'node:path';
                                                                 
                                            

/** A server that the subjects of a benchmark share; started when the first of them is prepared. */
                                                     

/** `server`: `embedded`, `real`, or the path of a program; `seed`: the path of a module that fills it. */
export function sharedServer(server        , seed         )               {
  let started                                 ;
  return () => (started ??= startHost([server, ...(seed === undefined ? [] : [seed])]));
}

/** The first server that can be started. */
export function firstOf(...servers                         )               {
  return async () => {
    let answer             = { failure: 'no server is named' };
    for (const server of servers) {
      answer = await server();
      if ('path' in answer) return answer;
    }
    return answer;
  };
}

/** The subject with the path of the server's description as the first argument of its program. */
export function onServer(subject         , server              )          {
  return {
    name: subject.name,
    prepare: async ()                    => {
      const prepared = await subject.prepare();
      if ('skipped' in prepared) return prepared;
      const answer = await server();
      if ('failure' in answer) return { skipped: answer.failure };
      return { command: [...prepared.command, answer.path], version: `${prepared.version}, on ${answer.version}` };
    },
  };
}

function startHost(args                   )                      {
  const typescript = join(import.meta.dirname, '..', '..', '..', 'scripts', 'typescript.mjs');
  const host = fork(join(import.meta.dirname, 'host.ts'), args, { execArgv: ['--import', typescript] });
  return new Promise((resolve) => {
    host.once('message', (answer            ) => {
      // It ends when this process does, and does not keep it alive.
      host.unref();
      host.channel?.unref();
      resolve(answer);
    });
    host.once('exit', (code) => resolve({ failure: `the server's host ended with ${String(code)}` }));
  });
}
