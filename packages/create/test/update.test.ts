// `kctl update` against whatever an author may have done to the files of a project.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, updateProject } from '../src/index.js';
import { findRenames } from '../src/find-renames.js';
import { mergeJson } from '../src/merge-json.js';
import { renderProject } from '../src/render-project.js';

const names = { name: 'shop', group: 'example.com', kind: 'Greeting' };
const [old, next] = ['^1.0.0', '^1.1.0'].map((version) => renderProject(names, version)) as [Files, Files];
type Files = ReadonlyMap<string, string>;
type Manifest = Readonly<Record<'dependencies' | 'devDependencies' | 'scripts', Record<string, string>>>;

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'kctl-update-')), 'shop');
  createProject({ folder, ...names, version: '^1.0.0' });
});
afterEach(() => rmSync(dirname(folder), { recursive: true, force: true }));

const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
const write = (path: string, text: string): void => writeFileSync(join(folder, path), text);
const nothing = { updated: [], conflicts: [], removed: [], kept: [], renamed: [], undecided: [] };

describe('package.json', () => {
  it('is merged by value: npm can read it after an upgrade as the README describes it', () => {
    const mine = JSON.parse(read('package.json')) as Manifest;
    // npm install --save-dev @kctl/create@latest; npm install lodash; npm uninstall @kctl/simulation
    mine.devDependencies['@kctl/create'] = '^1.1.0';
    mine.dependencies['lodash'] = '^4.0.0';
    delete mine.devDependencies['@kctl/simulation'];
    mine.scripts['test'] = 'vitest run';
    mine.scripts['lint'] = 'oxlint';
    write('package.json', `${JSON.stringify(mine, null, 4)}\n`.replaceAll('\n', '\r\n'));
    expect(updateProject({ folder, files: next })).toEqual({ ...nothing, updated: ['package.json'] });
    const merged = JSON.parse(read('package.json')) as Manifest;
    const expected = structuredClone(mine);
    for (const of of [expected.dependencies, expected.devDependencies])
      for (const name of Object.keys(of)) if (name.startsWith('@kctl/')) of[name] = '^1.1.0';
    expect(merged).toEqual(expected);
    expect(read('package.json')).toBe(`${JSON.stringify(expected, null, 4)}\n`.replaceAll('\n', '\r\n'));
    expect(updateProject({ folder, files: next })).toEqual(nothing);
  });

  it('keeps the value of the author where both have changed it, and names it', () => {
    const mine = JSON.parse(read('package.json')) as Manifest;
    mine.dependencies['@kctl/runtime'] = '1.0.7';
    write('package.json', JSON.stringify(mine, null, 2));
    const outcome = updateProject({ folder, files: next });
    expect(outcome).toEqual({
      ...nothing,
      updated: ['package.json'],
      undecided: ['package.json: dependencies.@kctl/runtime stays "1.0.7", as you have it: a new project has "^1.1.0"'],
    });
    expect((JSON.parse(read('package.json')) as Manifest).dependencies).toMatchObject({
      '@kctl/crd': '^1.1.0',
      '@kctl/runtime': '1.0.7',
    });
  });
});

it('keeps comments and white space of a JSON file, and puts what is new where it stands in a new project', () => {
  const base = '{ "a": 1, "b": [1, 2], "c": { "d": 1 } }';
  const ours = '{\n  // mine\n  "a": 1,\n  "b": [1, 2], "own": true,\n  "c": { "d": 2 }\n}\n';
  const theirs = '{ "a": 2, "new": { "x": 1 }, "b": [1, 2], "c": { "d": 3, "e": 1 } }';
  expect(mergeJson(base, ours, theirs)).toEqual({
    text: '{\n  // mine\n  "a": 2,\n  "new": {\n    "x": 1\n  },\n  "b": [1, 2], "own": true,\n  "c": {\n    "d": 2,\n    "e": 1\n  }\n}\n',
    undecided: ['c.d stays 2, as you have it: a new project has 3'],
  });
  expect(mergeJson(base, '<<<<<<< HEAD', theirs)).toBeUndefined();
});

it('leaves alone what is not a text any longer, or stands elsewhere', () => {
  const files = new Map(next);
  const changed = ['README.md', 'AGENTS.md', 'Dockerfile', 'src/api/greeting.ts', 'src/main.ts'];
  for (const path of changed) files.set(path, `${next.get(path) ?? ''}\nnew\n`);
  files.set('test/new/a.test.ts', 'new\n');
  files.set('src/new.ts', 'new\n');
  write('README.md', read('README.md'));
  const latin = Buffer.concat([Buffer.from(read('README.md')), Buffer.from([0xe9])]);
  writeFileSync(join(folder, 'README.md'), latin);
  rmSync(join(folder, 'AGENTS.md'));
  mkdirSync(join(folder, 'AGENTS.md'));
  rmSync(join(folder, 'src', 'api'), { recursive: true });
  write('src/api', 'a file now');
  write('test/new', 'a file');
  write('src/main.ts', `\uFEFF${read('src/main.ts')}`);
  expect(updateProject({ folder, files })).toEqual({
    ...nothing,
    updated: ['Dockerfile', 'package.json', 'src/main.ts', 'src/new.ts'],
    kept: ['AGENTS.md', 'README.md', 'src/api/greeting.ts', 'test/new/a.test.ts'],
  });
  expect(readFileSync(join(folder, 'README.md')).equals(latin)).toBe(true);
  expect(read('src/api')).toBe('a file now');
  expect(updateProject({ folder, files })).toEqual(nothing);
});

describe('a file that the newer release has elsewhere', () => {
  const from = 'src/controllers/greeting.ts';
  const to = 'src/reconcilers/greeting-reconciler.ts';
  const base = old.get(from) ?? '';
  const moved = (text: string): Files => new Map([...[...old].filter(([path]) => path !== from), [to, text]]);
  const exists = (path: string): boolean => existsSync(join(folder, path));
  const update = (files: Files): object => {
    const outcome = updateProject({ folder, files });
    expect(updateProject({ folder, files })).toEqual(nothing);
    return outcome;
  };

  it('is moved as it is', () => {
    expect(update(moved(base))).toEqual({ ...nothing, renamed: [{ from, to }] });
    expect([exists(from), read(to)]).toEqual([false, base]);
  });

  it('is moved with the edits of the author, and those of the release', () => {
    write(from, `// mine\n${base}`);
    expect(update(moved(`${base}// theirs\n`))).toEqual({ ...nothing, renamed: [{ from, to }], updated: [to] });
    expect([exists(from), read(to)]).toEqual([false, `// mine\n${base}// theirs\n`]);
  });

  it('has markers in its new place where both have changed a line', () => {
    write(from, `// mine\n${base}`);
    const outcome = updateProject({ folder, files: moved(`// theirs\n${base}`) });
    expect(outcome).toEqual({ ...nothing, renamed: [{ from, to }], conflicts: [to] });
    expect(read(to)).toContain('// mine\n=======\n// theirs\n');
  });

  it('stays deleted where the author has deleted it', () => {
    rmSync(join(folder, from));
    expect(update(moved(`${base}// theirs\n`))).toEqual({ ...nothing, kept: [to] });
    expect([exists(from), exists(to)]).toEqual([false, false]);
  });

  it('is merged where the author has moved it to the same place', () => {
    rmSync(join(folder, from));
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    write(to, `// mine\n${base}`);
    expect(update(moved(`${base}// theirs\n`))).toEqual({ ...nothing, updated: [to] });
    expect(read(to)).toBe(`// mine\n${base}// theirs\n`);
  });

  it('is left alone in a dry run, and where it is not a text any longer', () => {
    expect(updateProject({ folder, files: moved(base), dryRun: true })).toEqual({
      ...nothing,
      renamed: [{ from, to }],
    });
    expect([read(from), exists(to)]).toEqual([base, false]);
    writeFileSync(join(folder, from), Buffer.from([0xff]));
    expect(update(moved(base))).toEqual({ ...nothing, updated: [to], kept: [from] });
  });

  it('is another where most of its lines are new, or its ending', () => {
    const theirs = 'export const other = 1;\n';
    write(from, `// mine\n${base}`);
    expect(update(moved(theirs))).toEqual({ ...nothing, updated: [to], kept: [from] });
    expect(findRenames({ base: { 'a.ts': base }, next: new Map([['a.md', base]]) })).toEqual(new Map());
  });

  it('is the one that is most alike', () => {
    const lines = (count: number): string => Array.from({ length: count }, (_, line) => `line ${line}\n`).join('');
    const next = new Map([
      ['c.ts', lines(9)],
      ['d.ts', lines(10)],
    ]);
    expect(findRenames({ base: { 'a.ts': lines(10), 'b.ts': lines(8) }, next })).toEqual(
      new Map([
        ['d.ts', 'a.ts'],
        ['c.ts', 'b.ts'],
      ]),
    );
  });
});

describe('random edits of every file', () => {
  const paths = [...old.keys()];
  /** Where, and what becomes of the lines there. */
  const edit = fc.record({
    at: fc.nat(),
    as: fc.constantFrom('insert', 'replace', 'remove'),
    lines: fc.integer({ min: 1, max: 3 }),
  });
  const edits = fc.array(edit, { maxLength: 4 });
  const author = fc.record({ how: fc.constantFrom('edit', 'edit', 'edit', 'delete', 'rename', 'crlf'), edits });
  const release = fc.record({ how: fc.constantFrom('edit', 'edit', 'same', 'remove', 'move'), edits });

  /** Lines that are new are marked by who has written them: each is its own. */
  function apply(
    text: string,
    given: readonly (typeof edit extends fc.Arbitrary<infer E> ? E : never)[],
    who: string,
  ): string {
    const lines = text.split('\n');
    given.forEach(({ at, as, lines: count }, index) => {
      const own = as === 'remove' ? [] : Array.from({ length: count }, (_, line) => `// ${who} ${index}.${line}`);
      lines.splice(at % lines.length, as === 'insert' ? 0 : count, ...own);
    });
    return lines.join('\n');
  }

  it('loses no line of an author, and brings what is new', () => {
    const perFile = fc.tuple(...paths.map(() => fc.record({ author, release })));
    fc.assert(
      fc.property(perFile, (all) => {
        const files = new Map<string, string>();
        createAgain();
        const owned = new Map<string, readonly string[]>();
        const renamed: [path: string, text: string][] = [];
        all.forEach(({ author: mine, release: theirs }, index) => {
          const path = paths[index] ?? '';
          const base = old.get(path) ?? '';
          // Values of JSON files have their own test: lines like these would not be JSON.
          if (path.endsWith('.json')) return void files.set(path, base);
          if (theirs.how !== 'remove')
            files.set(
              theirs.how === 'move' ? `moved/${path}` : path,
              theirs.how === 'same' ? base : apply(base, theirs.edits, 'theirs'),
            );
          const text =
            mine.how === 'crlf'
              ? apply(base, mine.edits, 'mine').replaceAll('\n', '\r\n')
              : apply(base, mine.edits, 'mine');
          if (mine.how === 'delete' || mine.how === 'rename') rmSync(join(folder, path));
          if (mine.how === 'rename') renamed.push([`${path}.renamed`, text]);
          if (mine.how === 'edit' || mine.how === 'crlf') write(path, text);
          if (mine.how === 'edit' || mine.how === 'crlf')
            owned.set(
              path,
              text.split(/\r?\n/).filter((line) => line.startsWith('// mine')),
            );
        });
        for (const [path, text] of renamed) write(path, text);
        const outcome = updateProject({ folder, files });
        for (const [path, text] of renamed) expect(read(path)).toBe(text);
        for (const [was, lines] of owned) {
          const path = outcome.renamed.find(({ from }) => from === was)?.to ?? was;
          if (outcome.removed.includes(path)) {
            expect(lines).toEqual([]);
            continue;
          }
          const now = read(path).split(/\r?\n/);
          for (const line of lines) expect(now, path).toContain(line);
          const fromRelease =
            files
              .get(path)
              ?.split('\n')
              .filter((line) => line.startsWith('// theirs')) ?? [];
          if (!outcome.kept.includes(path)) for (const line of fromRelease) expect(now, path).toContain(line);
        }
        expect(updateProject({ folder, files })).toEqual(nothing);
      }),
      { numRuns: 40 },
    );
  });

  function createAgain(): void {
    rmSync(folder, { recursive: true });
    createProject({ folder, ...names, version: '^1.0.0' });
  }
});

describe('symbolic links', () => {
  it('are neither written nor deleted through', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kctl-links-'));
    try {
      const project = join(folder, 'project');
      const outside = join(folder, 'outside');
      mkdirSync(outside);
      createProject({ folder: project, name: 'a', group: 'e.com', kind: 'A' });
      for (const name of ['linked.ts', 'gone.ts']) writeFileSync(join(outside, name), 'of others');
      symlinkSync(outside, join(project, 'lib'));
      symlinkSync(join(outside, 'new.ts'), join(project, 'new.ts'));
      const recordFile = join(project, '.kctl', 'scaffold.json');
      const record = JSON.parse(readFileSync(recordFile, 'utf8')) as { files: Record<string, string> };
      const files = new Map([...Object.entries(record.files), ['lib/linked.ts', 'mine'], ['new.ts', 'mine']]);
      record.files['lib/gone.ts'] = 'of others';
      writeFileSync(recordFile, JSON.stringify(record));
      updateProject({ folder: project, files });
      expect(readFileSync(join(outside, 'linked.ts'), 'utf8')).toBe('of others');
      expect(readFileSync(join(outside, 'gone.ts'), 'utf8')).toBe('of others');
      expect(existsSync(join(outside, 'new.ts'))).toBe(false);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
