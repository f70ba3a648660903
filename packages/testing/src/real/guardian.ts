import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

/**
 * Lines of the protocol are `+ PID` (watch), `- PID` (has ended, so its number may be reused) and `q` (all clean, go).
 * End of file without `q` means that the parent died.
 */
const script = `
pids=' '
while read -r op pid; do
  case $op in
    +) pids="$pids$pid " ;;
    -) pids="\${pids%% $pid *} \${pids#* $pid }" ;;
    q) exit 0 ;;
  esac
done
kill -KILL $pids 2>/dev/null
[ -z "$1" ] && exit 0
for attempt in 1 2 3 4 5; do
  rm -rf "$1" && exit 0
  sleep 0.2
done
`;

/** Ends child processes and removes their folder when this process is gone for any reason, including SIGKILL. */
export interface Guardian {
  watch(pid: number): void;
  forget(pid: number): void;
  /** Resolves when the guardian has ended. */
  dismiss(): Promise<void>;
}

/**
 * A shell in a separate session reads a pipe from this process. The kernel closes the pipe when the process dies, and
 * the shell does the rest. It works for any binary, which a watch inside the children would not.
 *
 * @param folder removed when this process dies; nothing is removed when undefined
 */
export function startGuardian(folder: string | undefined): Guardian {
  const shell = spawn('/bin/sh', ['-c', script, 'kctl-guardian', folder ?? ''], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => shell.once('close', () => resolve()).once('error', () => resolve()));
  shell.unref();
  // The pipe is a socket, and must not keep this process alive.
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  shell.stdin.on('error', () => undefined); // The shell has ended: there is nothing left to send.
  const tell = (line: string): void => void shell.stdin.write(`${line}\n`);
  return {
    watch: (pid) => tell(`+ ${pid}`),
    forget: (pid) => tell(`- ${pid}`),
    dismiss: async () => {
      shell.ref();
      tell('q');
      await ended;
    },
  };
}
