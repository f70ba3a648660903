// Runs a program with a limit on its memory, as a container has it: a control group of Linux, version 1 or 2.
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const mounted = '/sys/fs/cgroup';
const first = join(mounted, 'memory');

                      
                          
                         
 

/** Where groups with a limit on memory are made. */
function controller()                         {
  if (existsSync(join(first, 'memory.limit_in_bytes'))) return { folder: first, limit: 'memory.limit_in_bytes' };
  if (existsSync(join(mounted, 'cgroup.controllers'))) return { folder: mounted, limit: 'memory.max' };
  return undefined;
}

/** Makes a group, has `work` use it and removes it. */
async function withGroup   (limitMib        , work                                   )             {
  const memory = controller();
  if (memory === undefined) throw new Error('this system has no control groups');
  const group = mkdtempSync(join(memory.folder, 'kctl-bench-'));
  try {
    writeFileSync(join(group, memory.limit), `${limitMib * 2 ** 20}`);
    return await work(join(group, 'cgroup.procs'));
  } finally {
    rmdirSync(group);
  }
}

/** Why no memory can be limited here; undefined where it can. */
export async function whyNoLimit()                              {
  try {
    await withGroup(64, (processes) => execute('sh', ['-c', 'echo $$ > "$0"', processes]));
    return undefined;
  } catch (error) {
    return `memory cannot be limited: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`;
  }
}

/**
 * A copy of a program's file of which no page is in memory. The pages of a file are charged to the first group that
 * reads them, so that a program which runs elsewhere already would be measured without its own code.
 */
export function unreadCopy(
  program        ,
  folder        ,
)                                                                      {
  mkdirSync(folder, { recursive: true });
  const own = mkdtempSync(join(folder, 'unread-'));
  const path = join(own, basename(program));
  copyFileSync(program, path);
  return {
    path,
    evict: async () => {
      await execute('sync', [path]);
      await execute('dd', [`if=${path}`, 'iflag=nocache', 'count=0', 'status=none']);
    },
    [Symbol.asyncDispose]: () => {
      rmSync(own, { recursive: true });
      return Promise.resolve();
    },
  };
}

/** Whether a command ends well within a limit, in time. One that has too little room for its code ends late or never. */
export function endsWell(command                   , limitMib        , timeoutMs        )                   {
  return withGroup(limitMib, async (processes) => {
    try {
      const enter = ['-c', 'echo $$ > "$0"; exec "$@"', processes];
      await execute('sh', [...enter, ...command], { timeout: timeoutMs, killSignal: 'SIGKILL' });
      return true;
    } catch {
      return false;
    }
  });
}
