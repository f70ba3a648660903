import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
                                         
                                      

const execute = promisify(execFile);

/** Measures one point, with a server and a client of its own. @param programs the folder with the compiled programs */
export async function measurePoint(size      , programs        )                   {
  const text = JSON.stringify(size);
  const server = fork(join(programs, 'growth', 'server.js'), [text], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const ended = once(server, 'exit');
  try {
    const early = ended.then(() => Promise.reject(new Error(`the server of ${text} ended before it listened`)));
    const [line] = (await Promise.race([once(server.stdout , 'data'), early]))            ;
    const args = ['--expose-gc', join(programs, 'growth', 'point.js'), text, line.toString().trim()];
    const { stdout } = await execute(process.execPath, args, { timeout: 600_000 });
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')           ;
  } finally {
    server.kill();
    await ended;
  }
}
