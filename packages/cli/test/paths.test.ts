// Windows has other separators, drives, and programs that end in .cmd. This finds what works here alone, in what npm
// installs on every system: kctl, and npm create @kctl.
import { readdirSync, readFileSync } from 'node:fs';
import { join, win32 } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type * as Generate from '../src/manifests/compare-files.js';
import type * as Project from '../src/project.js';

interface Rule {
  readonly pattern: RegExp;
  readonly instead: string;
}

const fileFunctions =
  'readFileSync|writeFileSync|mkdirSync|mkdtempSync|rmSync|existsSync|readdirSync|statSync|cpSync|copyFileSync|renameSync|realpathSync|watch';
const rules: readonly Rule[] = [
  { pattern: new RegExp(`\\b(?:${fileFunctions})\\(\\s*\`[^\`]*[/\\\\]`), instead: 'join(…) of node:path' },
  { pattern: new RegExp(`\\b(?:${fileFunctions})\\([^,()]*\\+ *['"][/\\\\]`), instead: 'join(…) of node:path' },
  { pattern: /\bURL\([^)]*\)\.pathname|import\.meta\.url\)\.pathname/, instead: 'fileURLToPath(…) of node:url' },
  { pattern: /['"`]\/(?:tmp|dev\/|etc\/|usr\/|home\/)/, instead: 'tmpdir() or homedir() of node:os, or another way' },
  {
    pattern: /environment?(?:\.HOME\b|\[['"]HOME['"]\])|env(?:\.HOME\b|\[['"]HOME['"]\])/,
    instead: 'homedir() of node:os',
  },
  {
    pattern: /\b(?:spawn|spawnSync|execFile|execFileSync)\(\s*['"](?:npm|npx|pnpm|yarn|tsc)['"](?!.*\bshell:)/,
    instead: 'its module with process.execPath: on Windows it is a .cmd',
  },
  {
    pattern: /\bpath\.split\(sep\)\.pop|\.lastIndexOf\(['"]\/['"]\)/,
    instead: 'basename(…) or dirname(…) of node:path',
  },
  {
    pattern: /\bimport\((?!['"`]|pathToFileURL|[^)]*\.href|url\b|import\.meta|[^)]*_URL\))/,
    instead: 'pathToFileURL(path).href: C: is not a protocol',
  },
];

/** Problems of a text, a place and a remedy each. */
function problemsOf(name: string, text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      /^\s*(?:\/\/|\*|\/\*)/.test(line)
        ? []
        : rules.flatMap(({ pattern, instead }) =>
            pattern.test(line) ? [`${name}:${index + 1}: use ${instead}: ${line.trim()}`] : [],
          ),
    );
}

const packages = join(import.meta.dirname, '..', '..');
const sources = ['cli', 'create'].flatMap((name) =>
  readdirSync(join(packages, name, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('generated'))
    .map((file) => join(packages, name, 'src', file)),
);

describe('paths in kctl and create', () => {
  it('hold on Windows', () => {
    expect(sources.length).toBeGreaterThan(40);
    expect(sources.flatMap((file) => problemsOf(file.slice(packages.length + 1), readFileSync(file, 'utf8')))).toEqual(
      [],
    );
  });

  it.each([
    ['readFileSync(`${folder}/package.json`)'],
    ["writeFileSync(folder + '/a.yaml', text)"],
    ["const here = new URL('.', import.meta.url).pathname;"],
    ["mkdtempSync('/tmp/kctl-')"],
    ["join(process.env.HOME ?? '', '.kube')"],
    ["spawn('npm', ['install'])"],
    ["file.slice(file.lastIndexOf('/') + 1)"],
    ['await import(main)'],
  ])('%s is found', (line) => {
    expect(problemsOf('x.ts', line)).toHaveLength(1);
  });

  it.each([
    ["readFileSync(join(folder, 'package.json'), 'utf8')"],
    ['await import(pathToFileURL(main).href)'],
    ["await import('esbuild')"],
    ["join(output, ...path.split('/'))"],
    ['fetch(`http://${address}/metrics`)'],
  ])('%s is not', (line) => {
    expect(problemsOf('x.ts', line)).toEqual([]);
  });
});

describe('with the paths of Windows', () => {
  let project: typeof Project;
  let kinds: typeof Generate;
  beforeAll(async () => {
    vi.resetModules();
    vi.doMock('node:path', () => ({ ...win32, default: win32 }));
    project = await import('../src/project.js');
    kinds = await import('../src/manifests/compare-files.js');
  });
  afterAll(() => {
    vi.doUnmock('node:path');
    vi.resetModules();
  });

  it('shows paths with slashes, and those of another drive as they are', () => {
    const { shownPath } = project;
    expect(shownPath('C:\\shop', 'C:\\shop\\deploy\\rbac\\rbac.yaml')).toBe('deploy/rbac/rbac.yaml');
    expect(shownPath('C:\\shop', 'D:\\other\\main.ts')).toBe('D:\\other\\main.ts');
    expect(shownPath('C:\\shop', 'C:\\other\\main.ts')).toBe('C:\\other\\main.ts');
  });

  it('names generated files with slashes', () => {
    const files = new Map([['crds/websites.example.com.yaml', 'x']]);
    expect(kinds.compareFiles('C:\\shop\\deploy', files, ['crds'])).toEqual({
      written: ['crds/websites.example.com.yaml'],
      unchanged: [],
      removed: [],
    });
  });
});
