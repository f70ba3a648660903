// Packs every package as it would be published and lets publint and attw judge the tarball.
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'kctl-pack-'));
const shell = process.platform === 'win32';
let failures = 0;
try {
  for (const name of readdirSync('packages').sort()) {
    const packed = spawnSync('pnpm', ['pack', '--pack-destination', folder], {
      cwd: join('packages', name),
      encoding: 'utf8',
      shell,
    });
    const tarball = readdirSync(folder).find(
      (file) =>
        file.startsWith(`kctl-${name}-`) &&
        /^kctl-.*-\d+\.\d+\.\d+.*\.tgz$/.test(file) &&
        file.replace(/-\d+\.\d+\.\d+.*$/, '') === `kctl-${name}`,
    );
    if (packed.status !== 0 || tarball === undefined) {
      console.error(`${name}: pnpm pack failed\n${packed.stdout}${packed.stderr}`);
      failures++;
      continue;
    }
    const path = join(folder, tarball);
    const problem =
      nodeTypesProblem(join('packages', name)) ?? wideTextProblem(join('packages', name)) ?? contentProblem(path);
    if (problem !== undefined) {
      console.error(`${name}: ${problem}`);
      failures++;
    }
    for (const [tool, args] of /** @type {[string, string[]][]} */ ([
      ['publint', ['run', path, '--strict']],
      ['attw', [path, '--profile', 'esm-only', '--format', 'ascii', '--no-color']],
    ])) {
      const result = spawnSync(tool, args, { encoding: 'utf8', shell });
      if (result.status === 0) continue;
      console.error(`${name}: ${tool} objects\n${result.stdout}${result.stderr}`);
      failures++;
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(failures === 0 ? 'every package can be published' : `${failures} objections`);
process.exitCode = failures === 0 ? 0 : 1;

/** One character beyond Latin-1 has V8 keep the whole file in two bytes per character. @param {string} package_ */
function wideTextProblem(package_) {
  const file = globSync(join(package_, 'dist', '**', '*.js')).find((path) =>
    /[^\u0000-\u00ff]/.test(readFileSync(path, 'utf8')),
  );
  if (file === undefined) return undefined;
  const [line] = readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text) => (/[^\u0000-\u00ff]/.test(text) ? [text.trim()] : []));
  return `${file} has a character beyond U+00FF, which doubles its memory: ${line}: write it as an escape sequence, or - in a comment`;
}

/** Declarations that name types of Node need `@types/node`, and those who use them must learn it. @param {string} package_ */
function nodeTypesProblem(package_) {
  const { peerDependencies = {} } = JSON.parse(readFileSync(join(package_, 'package.json'), 'utf8'));
  const user = globSync(join(package_, 'dist', '**', '*.d.ts')).find((file) => {
    const code = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    return /from 'node:|import\("node:|\bBuffer\b|\bNodeJS\./.test(code);
  });
  const isDeclared = peerDependencies['@types/node'] !== undefined;
  if (user !== undefined && !isDeclared) return `${user} names types of Node: declare @types/node as an optional peer`;
  if (user === undefined && isDeclared) return '@types/node is a peer, and no declaration names types of Node';
  return undefined;
}

/** @param {string} tarball */
function contentProblem(tarball) {
  const { stdout } = spawnSync('tar', ['-tzf', tarball], { encoding: 'utf8' });
  const unwanted = stdout
    .split('\n')
    // What a package writes into new projects has tests of its own.
    .filter(
      (file) =>
        !/\/(template|additions|built-in)\//.test(file) && /\.tsbuildinfo$|\.test\.[jt]s$|\.test\.d\.ts$/.test(file),
    );
  return unwanted.length === 0 ? undefined : `the tarball has ${unwanted.join(', ')}`;
}
