// Starts the servers that benchmarks run on, each as processes of its own.
import { execFile, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startRealApiServer } from '@kctl/testing';
                                                   

                                
                            
                           
                        
 

const root = join(import.meta.dirname, '..', '..', '..');
const execute = promisify(execFile);

/** A program in Node that prints one line of JSON when it is ready. */
export async function startProgram(args                   , version        )                         {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise      ((resolve) => child.once('exit', () => resolve()));
  let text = '';
  child.stdout.setEncoding('utf8');
  const line = await new Promise        ((resolve, reject) => {
    child.stdout.on('data', (part        ) => {
      text += part;
      if (text.includes('\n')) resolve(text);
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${String(code)} before it was ready`)));
  });
  const ready = JSON.parse(line)                                                                ;
  const stop = async ()                => {
    child.kill('SIGTERM');
    await exited;
  };
  const pids = child.pid === undefined ? [] : [child.pid];
  return { info: { url: ready.url, ca: ready.certificateAuthority, token: ready.token, pids }, version, stop };
}

/** The embedded server by its own command. */
export function startEmbedded(...args                   )                         {
  const index = createRequire(import.meta.url).resolve('@kctl/apiserver/package.json');
  return startProgram([join(dirname(index), 'dist', 'cli.js'), ...args], '@kctl/apiserver');
}

                    
                                 
                        
                           
 

/** Finds the binaries of the real server, or builds them; fails where there is neither them nor a Go toolchain. */
export async function findRealBinaries()                    {
  const { stdout } = await execute(process.execPath, [join(root, 'e2e', 'kube-apiserver', 'build.mjs')]);
  return JSON.parse(stdout)            ;
}

/** kube-apiserver with its own etcd, which does not wait for the disk. */
export async function startReal()                         {
  const server = await startRealApiServer({ binaries: await findRealBinaries() });
  const pids = Object.values(server.components).map(({ pid }) => pid);
  return {
    info: { url: server.url, ca: server.caPem, token: server.adminToken, pids },
    version: `kube-apiserver ${server.version}`,
    stop: () => server.stop(),
  };
}
