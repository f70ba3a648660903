import { access, constants } from 'node:fs/promises';
import { delimiter, join, resolve, sep } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Refuses a program that is not listed. Mirrors the allowlist of client-go and of kuberc, in which the command and each
 * entry are looked up in PATH, and must be the same file by its path.
 *
 * @throws Error if it is not allowed to run
 */
export async function requireAllowed(
  command: string,
  allowlist: readonly string[],
  environment: Environment,
): Promise<void> {
  const wanted = await lookPath(command, environment);
  if (wanted !== undefined) for (const entry of allowlist) if ((await lookPath(entry, environment)) === wanted) return;
  // As a spawn of it would fail.
  if (wanted === undefined) throw Object.assign(new Error('the command was not found'), { code: 'ENOENT' });
  const listed = allowlist.map((entry) => JSON.stringify(entry)).join(', ');
  throw new Error(
    `it is not in execAllowlist, which has ${listed === '' ? 'no entry' : listed}: add it, if it may run`,
  );
}

/** The path of a program, either as given or the first match in PATH. As Go's `exec.LookPath`. */
async function lookPath(command: string, environment: Environment): Promise<string | undefined> {
  if (command === '') return undefined;
  const isPath = command.includes('/') || command.includes(sep);
  const folders = isPath ? [] : (environment['PATH'] ?? environment['Path'] ?? '').split(delimiter).filter(Boolean);
  const endings =
    process.platform === 'win32' ? ['', ...(environment['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')] : [''];
  const places = isPath ? [resolve(command)] : folders.map((folder) => resolve(join(folder, command)));
  for (const place of places)
    for (const ending of endings) if (await isExecutable(place + ending)) return place + ending;
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
