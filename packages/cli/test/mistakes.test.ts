// A mistake in a file of the author: the sentence names that file and its line, not the module that imports it.
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { explain } from '../src/errors.js';
import { importProblem } from '../src/project.js';
import { samplesOf } from '../src/dev/samples.js';
import { kctl, project } from './project.js';

/** As Node makes it: what is wrong stands before the error, or in its first frames. */
function errorWith(message: string, stack: readonly string[]): Error {
  return Object.assign(new Error(message), { stack: stack.join('\n') });
}

describe('a module that cannot be imported', () => {
  it.each([
    [
      'syntax that TypeScript does not have',
      errorWith('Expression expected', ['file:///work/my%20operator/src/a%C3%A4.ts:15', 'const x = ;', '          ^']),
      'src/aä.ts:15: Expression expected',
    ],
    [
      'an export that is not there',
      errorWith("'./b.ts' does not provide an export named 'c'", ['file:///work/my%20operator/src/a.ts:2', 'import']),
      "src/a.ts:2: './b.ts' does not provide an export named 'c'",
    ],
    [
      'an error that the author throws',
      errorWith('boom', [
        'Error: boom',
        '    at file:///work/my%20operator/src/a.ts:2:7',
        '    at node:internal/x:1:1',
      ]),
      'src/a.ts:2: boom',
    ],
    [
      'an error of a package, by the first line of the author',
      errorWith('bad schema', [
        'Error: bad schema',
        '    at check (file:///work/my%20operator/node_modules/@kctl/crd/dist/index.js:1:1)',
        '    at Object.<anonymous> (/work/my operator/src/a.ts:9:3)',
      ]),
      'src/a.ts:9: bad schema',
    ],
    [
      'what names its file itself',
      errorWith("Cannot find module '/work/my operator/src/b.ts' imported from /work/my operator/src/a.ts", []),
      "Cannot find module '/work/my operator/src/b.ts' imported from /work/my operator/src/a.ts",
    ],
    ['what is elsewhere', errorWith('boom', ['Error: boom', '    at file:///elsewhere/a.ts:2:7']), 'boom'],
  ])('for %s names file and line', (_what, error, sentence) => {
    expect(importProblem('/work/my operator', error)).toBe(sentence);
  });

  it('that is no Error is shown as it is', () => {
    expect(importProblem('/work', 'no')).toBe('no');
  });

  it('is named by the command', async () => {
    const folder = project();
    writeFileSync(join(folder, 'src', 'broken.ts'), "\nthrow new Error('boom');\nexport {};\n");
    appendFileSync(join(folder, 'src', 'main.ts'), "import './broken.js';\n");
    const { code, err } = await kctl(folder, 'generate');
    expect(code).toBe(1);
    expect(err).toMatch(/^kctl: src\/main\.ts cannot be imported: src\/broken\.ts:\d+: boom\n$/);
  });
});

describe('a sample that is not an object', () => {
  const sampleOf = (text: string): (() => unknown) => {
    const folder = project();
    const output = join(folder, 'deploy');
    mkdirSync(join(output, 'samples'), { recursive: true });
    writeFileSync(join(output, 'samples', 'a.yaml'), text);
    return () => samplesOf({ folder, output }, {});
  };
  const good = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n';

  it.each([
    ['no YAML', 'a: [1', /^deploy\/samples\/a\.yaml is not YAML: line \d: /],
    ['a template', '{{ name }}\n', /^deploy\/samples\/a\.yaml is not YAML: line 1: invalid map key: a mapping/],
    ['a list', '[1]\n', /^deploy\/samples\/a\.yaml: document 1 is not an object: expected apiVersion, kind/],
    ['an object without a name', `${good}---\napiVersion: v1\nkind: Pod\n`, /^deploy\/samples\/a\.yaml: document 2 is/],
    ['an alias that is not there', 'a: *b\n', /^deploy\/samples\/a\.yaml is not YAML: /],
  ])('but %s is refused with its place', (_what, text, sentence) => {
    expect(sampleOf(text)).toThrow(sentence);
  });

  it('takes documents without content, and the items of a List', () => {
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'b' } }],
    };
    expect(sampleOf(`# nothing\n---\n${good}---\n${JSON.stringify(list)}\n`)()).toMatchObject([
      { kind: 'ConfigMap' },
      { kind: 'Pod' },
    ]);
  });

  it('means what it means to kubectl', () => {
    const data = '{ mode: 0644, flag: yes, day: 2024-01-02, time: 12:30 }';
    expect(sampleOf(`${good}data: ${data}\n`)()).toMatchObject([
      { data: { mode: 420, flag: true, day: '2024-01-02', time: '12:30' } },
    ]);
  });

  it('ends kctl dev before it starts anything', async () => {
    const folder = project();
    const { code, err } = await kctl(folder, 'dev', '--samples', '/does/not/exist');
    expect({ code, err }).toEqual({
      code: 1,
      err: 'kctl: /does/not/exist does not exist: name a folder of YAML files by --samples\n',
    });
  });
});

it('names CRDs that are not YAML by the line', async () => {
  const folder = project();
  writeFileSync(join(folder, 'crds.yaml'), 'kind: [CustomResourceDefinition\n');
  const { code, err } = await kctl(folder, 'generate', 'kinds', '--from', 'crds.yaml');
  expect(code).toBe(1);
  expect(err).toMatch(/^kctl: crds\.yaml is not YAML: line \d+: .*\n$/);
});

it('names a package.json that cannot be read where a project is to be updated', async () => {
  const folder = project();
  writeFileSync(join(folder, 'package.json'), '{ not json');
  expect((await kctl(folder, 'update')).err).toMatch(/^kctl: .*package\.json cannot be read: .*\n$/);
});

describe('a file that cannot be written', () => {
  it.each([
    [
      'a folder in its place',
      'rbac/rbac.yaml/x',
      /rbac\.yaml is a folder: expected a file: nothing was changed: move what stands there away\n$/,
    ],
    [
      'a file in place of its folder',
      'rbac',
      /rbac is not a folder: .*rbac\.yaml is to be in it: nothing was changed: move what stands there away\n$/,
    ],
  ])('because of %s has a remedy', async (_what, place, sentence) => {
    const folder = project();
    const file = join(folder, 'deploy', ...place.split('/'));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
    const { code, err } = await kctl(folder, 'generate', 'rbac');
    expect(code).toBe(1);
    expect(err).toMatch(sentence);
  });

  it('because of missing rights has one', () => {
    const error = Object.assign(new Error("EACCES: permission denied, open 'a'"), { code: 'EACCES' });
    expect(explain(error)).toMatch(/open 'a': you lack the right: see who owns it/);
  });
});
