/**
 * Ends child processes and removes their folder when this process is gone, however it went: also by SIGKILL.
 *
 * A shell in a session of its own reads a pipe from us. The kernel closes the pipe when we die, and the shell does
 * the rest. It works for any binary, which a watch inside of the children would not.
 */
import { spawn } from 'node:child_process';

/**
 * Lines of the protocol: `+ PID` (watch), `- PID` (has ended: its number may be reused), `q` (all clean, go).
 * End of file without `q` means that the parent died.
 */
const SCRIPT = `
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

/**
 * @typedef {object} Guardian
 * @property {(pid: number) => void} watch
 * @property {(pid: number) => void} forget
 * @property {() => Promise<void>} dismiss resolves when the shell has ended
 */

/**
 * @param {string | undefined} folder removed when this process dies; nothing is removed when undefined
 * @returns {Guardian}
 */
export function startGuardian(folder) {
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'kctl-guardian', folder ?? ''], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = new Promise((resolve) => shell.once('close', resolve).once('error', resolve));
  shell.unref();
  // Only typed as a Writable: the pipe is a socket, and must not keep this process alive.
  /** @type {import('node:net').Socket} */ (shell.stdin).unref();
  shell.stdin.on('error', () => {}); // Somebody ended the shell: nothing to tell it any more.
  const tell = (/** @type {string} */ line) => shell.stdin.write(`${line}\n`);
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
