import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { createProject, runCreate, updateProject, type CreateIo } from '../src/index.js';
import { mergeText } from '../src/merge-text.js';
import { runNpm } from '../src/run.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder inside of the package, where imports of @kctl resolve, and where no other tool looks while this one writes. */
function place(): string {
  const cache = join(import.meta.dirname, '..', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'project-'));
  folders.push(folder);
  return folder;
}

interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly npm: string[];
}

async function create(cwd: string, given: readonly string[], npm: CreateIo['npm'] = () => 0): Promise<Result> {
  let out = '';
  let err = '';
  const calls: string[] = [];
  const io: CreateIo = {
    cwd,
    isInteractive: false,
    out: (text) => (out += text),
    err: (text) => (err += text),
    npm: (folder, args) => {
      calls.push(args.join(' '));
      return npm(folder, args);
    },
  };
  return { code: await runCreate(io, given), out, err, npm: calls };
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe('npm create @kctl', () => {
  it('writes a project without a question where there is no terminal', async () => {
    const cwd = place();
    const made = await create(cwd, ['shop', '--kind', 'CronJob', '--group', 'batch.example.com']);
    expect(made).toMatchObject({ code: 0, err: '', npm: ['install --no-fund --no-audit', 'run --silent generate'] });
    expect(made.out).toContain('cd shop\n  npm test\n');
    const folder = join(cwd, 'shop');
    for (const path of [
      '.gitignore',
      '.github/workflows/ci.yaml',
      'Dockerfile',
      'src/api/cron-job.ts',
      'test/cron-job.test.ts',
    ])
      expect(existsSync(join(folder, path)), path).toBe(true);
    for (const file of filesIn(folder)) expect(readFileSync(file, 'utf8'), file).not.toMatch(/__[a-zA-Z-]+__/);
    expect(readFileSync(join(folder, 'Dockerfile'), 'utf8')).toContain('USER 65532:65532');
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({ name: 'shop' });
  });

  it.each<[string, readonly string[], number, RegExp]>([
    ['a name', ['Shop'.repeat(20)], 2, /name "shop.*" is not valid: expected lower case letters/],
    ['a group', ['shop', '--group', 'shop'], 2, /group "shop" is not valid: expected a domain with a dot/],
    ['a kind', ['shop', '--kind', 'web-site'], 2, /kind "web-site" is not valid/],
    ['the folder', ['Grüße'], 2, /^name "grüße" is not valid: .*: it is that of the folder, give another by --name$/m],
    ['an option', ['shop', '--knd', 'A'], 2, /unknown option '--knd' \(Did you mean --kind\?\)/],
    ['a folder with files', ['.'], 1, /is not empty: name another folder/],
  ])('names %s that is not right, and writes nothing', async (what, given, code, message) => {
    const cwd = place();
    if (what === 'a folder with files') await create(cwd, ['.', '--name', 'first']);
    const before = filesIn(cwd).length;
    const made = await create(cwd, given.concat(what === 'a folder with files' ? ['--name', 'second'] : []));
    expect(made.err).toMatch(message);
    expect(made).toMatchObject({ code, npm: [] });
    expect(filesIn(cwd)).toHaveLength(before);
  });

  it('takes a repository that has no files yet', async () => {
    const cwd = place();
    mkdirSync(join(cwd, '.git'));
    writeFileSync(join(cwd, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    expect(await create(cwd, ['.', '--name', 'shop'])).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(join(cwd, '.git', 'HEAD'), 'utf8')).toBe('ref: refs/heads/main\n');
  });

  it('says how to go to a folder that a shell would read as two', async () => {
    const { out } = await create(place(), ['Grüße an alle', '--name', 'shop']);
    expect(out).toContain('wrote 14 files to Grüße an alle\n');
    expect(out).toContain('  cd "Grüße an alle"\n');
  });

  it('says what to run again where npm fails', async () => {
    const made = await create(place(), ['shop'], () => 1);
    expect(made).toMatchObject({
      code: 1,
      err: 'npm install --no-fund --no-audit failed in shop: the files are there; run it again\n',
    });
  });

  it('runs npm', () => expect(runNpm(dirname(import.meta.dirname), ['--version', '--silent'])).toBe(0));
});

describe('updateProject', () => {
  const names = { name: 'shop', group: 'example.com', kind: 'Greeting' };
  const read = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8');
  const made = (): { folder: string; files: Map<string, string> } => {
    const folder = join(place(), 'shop');
    createProject({ folder, ...names });
    return { folder, files: new Map(createdFiles(folder)) };
  };
  const createdFiles = (folder: string): [string, string][] =>
    Object.entries((JSON.parse(read(folder, '.kctl/scaffold.json')) as { files: Record<string, string> }).files);
  const nothing = { updated: [], conflicts: [], removed: [], kept: [], renamed: [], undecided: [] };

  it('changes nothing where this release makes the same, whatever was edited', () => {
    const { folder } = made();
    writeFileSync(join(folder, 'src', 'main.ts'), 'mine');
    rmSync(join(folder, 'AGENTS.md'));
    expect(updateProject({ folder })).toEqual(nothing);
    expect(read(folder, 'src/main.ts')).toBe('mine');
    expect(existsSync(join(folder, 'AGENTS.md'))).toBe(false);
  });

  it('merges with edits, line by line; a second run changes nothing', () => {
    const { folder, files } = made();
    const mine = read(folder, 'README.md').replace('# shop\n', '# The shop\n');
    writeFileSync(join(folder, 'README.md'), mine.replaceAll('\n', '\r\n'));
    files.set('README.md', `${files.get('README.md') ?? ''}\nNew in this release.\n`);
    files.set('src/new.ts', 'export {};\n');
    files.delete('.dockerignore');
    files.delete('AGENTS.md');
    writeFileSync(join(folder, 'AGENTS.md'), 'mine');
    const expected = {
      updated: ['README.md', 'src/new.ts'],
      conflicts: [],
      removed: ['.dockerignore'],
      kept: ['AGENTS.md'],
      renamed: [],
      undecided: [],
    };
    expect(updateProject({ folder, files, dryRun: true })).toEqual(expected);
    expect(existsSync(join(folder, 'src', 'new.ts'))).toBe(false);
    expect(updateProject({ folder, files })).toEqual(expected);
    expect(read(folder, 'README.md')).toBe(`${mine}\nNew in this release.\n`.replaceAll('\n', '\r\n'));
    expect(existsSync(join(folder, '.dockerignore'))).toBe(false);
    expect(read(folder, 'AGENTS.md')).toBe('mine');
    expect(updateProject({ folder, files })).toEqual(nothing);
  });

  it('lets both stand where both have changed a line', () => {
    const { folder, files } = made();
    const line = "  name: 'shop',\n";
    const edit = (text: string, to: string): string => text.replace(line, to);
    writeFileSync(join(folder, 'src', 'main.ts'), edit(read(folder, 'src/main.ts'), "  name: 'mine',\n"));
    files.set('src/main.ts', edit(files.get('src/main.ts') ?? '', "  name: 'theirs',\n"));
    expect(updateProject({ folder, files })).toEqual({ ...nothing, conflicts: ['src/main.ts'] });
    expect(read(folder, 'src/main.ts')).toContain(
      `${'<'.repeat(7)} yours\n  name: 'mine',\n=======\n  name: 'theirs',\n${'>'.repeat(7)} kctl\n`,
    );
    expect(updateProject({ folder, files })).toEqual(nothing);
  });

  it('loses no line of an author: random edits of both', () => {
    const line = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const text = fc.array(line, { maxLength: 12 });
    const edited = fc.tuple(text, text, text);
    fc.assert(
      fc.property(edited, ([base, ours, theirs]) => {
        const [o, a, b] = [base, ours, theirs].map((lines) => lines.join('\n')) as [string, string, string];
        expect(mergeText(o, a, o)).toEqual({ text: a, conflicts: 0 });
        expect(mergeText(o, o, b)).toEqual({ text: b, conflicts: 0 });
        expect(mergeText(o, a, a)).toEqual({ text: a, conflicts: 0 });
        // A line that the author has added, and that no one else has, is there.
        const own = mergeText(o, [...ours, 'mine'].join('\n'), b).text;
        expect(own.split('\n')).toContain('mine');
      }),
    );
  });

  it.each<[string, string | undefined, RegExp]>([
    ['is missing', undefined, /scaffold.json does not exist: npx kctl update brings projects up to date/],
    ['is not JSON', '{', /scaffold.json is not JSON/],
    ['is not valid', '{"name":"a"}', /scaffold.json is not valid/],
    ...Object.entries({
      name: `a', x: process.exit() //`,
      kind: '../../x',
      group: "e.com'",
    }).map(([field, value]): [string, string, RegExp] => [
      `has ${field} ${value}`,
      JSON.stringify({ name: 'a', group: 'e.com', kind: 'A', files: {}, [field]: value }),
      new RegExp(`scaffold\\.json is not valid: ${field} ".*" is not valid: expected`),
    ]),
    ...['../victim', '/etc/victim', 'a/../../victim', 'a\\\\..\\\\b', 'C:/x', '.git/hooks/pre-commit', 'a//b', '.'].map(
      (path): [string, string, RegExp] => [
        `has the path ${path}`,
        JSON.stringify({ name: 'a', group: 'e.com', kind: 'A', files: { [path]: 'x' } }),
        /scaffold\.json is not valid: files: ".*" is not the path of a file of the project/,
      ],
    ),
  ])('names a record that %s, and writes nothing', (_what, text, message) => {
    const { folder } = made();
    const file = join(folder, '.kctl', 'scaffold.json');
    if (text === undefined) rmSync(file);
    else writeFileSync(file, text);
    const before = filesIn(folder).length;
    expect(() => updateProject({ folder })).toThrow(message);
    expect(filesIn(folder)).toHaveLength(before);
  });
});
