/** Modules for other releases than the one in go.mod: the same programs, made of another k8s.io/kubernetes. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The newest patch of each minor that the module proxy had when this was written. */
export const releases = /** @type {const} */ ({ 1.33: 'v1.33.13', 1.34: 'v1.34.4', 1.35: 'v1.35.4' });

/**
 * Writes a module that requires a release of Kubernetes, with its own requirements and its staging modules of the same
 * tag. go.sum is made by the build, against Go's checksum database.
 *
 * @param {{ version: string, programs: string, folder: string, env: NodeJS.ProcessEnv }} options
 *   `programs`: the folder with `cmd/`
 * @returns {Promise<string>} the folder
 */
export async function writeReleaseModule({ version, programs, folder, env }) {
  const { stdout } = await run('go', ['mod', 'download', '-json', `k8s.io/kubernetes@${version}`], { env });
  const { GoMod } = /** @type {{ GoMod: string }} */ (JSON.parse(stdout));
  const stage = `${folder}.${process.pid}`;
  await mkdir(stage, { recursive: true });
  await cp(join(programs, 'cmd'), join(stage, 'cmd'), { recursive: true });
  await writeFile(join(stage, 'go.mod'), releaseGoMod(await readFile(GoMod, 'utf8'), version));
  await rm(folder, { recursive: true, force: true });
  await rename(stage, folder);
  return folder;
}

/**
 * go.mod of a module with the programs: what k8s.io/kubernetes requires, and the staging modules by their published
 * version in place of folders of its repository.
 *
 * @param {string} upstream go.mod of k8s.io/kubernetes
 * @param {string} version e.g. `v1.34.4`
 */
export function releaseGoMod(upstream, version) {
  const staging = version.replace(/^v1\./, 'v0.');
  const line = (/** @type {RegExp} */ pattern) => pattern.exec(upstream)?.[0] ?? '';
  const required = [...upstream.matchAll(/^\s+([\w.-]+\.[\w./~-]+) (v\S+)/gm)]
    .map(([, path = '', at = '']) => ({ path, at }))
    .filter(({ at }) => at !== 'v0.0.0');
  const staged = [
    ...new Set(
      [...upstream.matchAll(/^\s*(k8s\.io\/[\w-]+)(?: v0\.0\.0$| => \.\/staging\/)/gm)].map(([, path]) => path),
    ),
  ];
  return [
    'module kctl.local/e2e/kube-apiserver',
    line(/^go \S+$/m),
    line(/^godebug default=\S+$/m),
    'require (',
    `\tk8s.io/kubernetes ${version}`,
    ...staged.map((path) => `\t${path} ${staging}`),
    ...required.map(({ path, at }) => `\t${path} ${at}`),
    ')',
    'replace (',
    ...staged.map((path) => `\t${path} => ${path} ${staging}`),
    ')',
    '',
  ].join('\n');
}
