import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Has a program encode objects that it reads as lines of JSON. @returns what it wrote, as it came */
export async function encodeAsProtobuf(command                   , objects                  )                    {
  const [program = '', ...args] = command;
  const encoder = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = once(encoder, 'close');
  const written           = [];
  encoder.stdout.on('data', (chunk        ) => void written.push(chunk));
  for (const object of objects)
    if (!encoder.stdin.write(`${JSON.stringify(object)}\n`)) await once(encoder.stdin, 'drain');
  encoder.stdin.end();
  const [code] = (await closed)                   ;
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}`);
  return written;
}
