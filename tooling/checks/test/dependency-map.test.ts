import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Each fault is injected into a small copy of the workspace, so that the real one is never touched. */
const root = join(import.meta.dirname, '..', '..', '..');
let copy: string;

interface Verdict {
  readonly passed: boolean;
  readonly output: string;
}

function run(command: string, args: readonly string[]): Verdict {
  const result = spawnSync(join(root, 'node_modules', '.bin', command), args, {
    cwd: copy,
    encoding: 'utf8',
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', FORCE_COLOR: '0' },
  });
  return { passed: result.status === 0, output: `${result.stdout}${result.stderr}` };
}

const cruise = (): Verdict =>
  run('depcruise', ['--config', '.dependency-cruiser.mjs', '--output-type', 'err', 'packages']);
const derived = (): Verdict => run('node', ['scripts/sync-packages.mjs', '--check']);

function write(file: string, content: string): void {
  mkdirSync(join(copy, file, '..'), { recursive: true });
  writeFileSync(join(copy, file), content);
}

/** Writes a file, runs the work, and removes the file again. */
function withFile(file: string, content: string, work: () => void): void {
  write(file, content);
  try {
    work();
  } finally {
    rmSync(join(copy, file));
  }
}

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'kctl-checks-'));
  for (const file of [
    'architecture.json',
    '.dependency-cruiser.mjs',
    'tsconfig.json',
    'tsconfig.build.json',
    'turbo.json',
    'package.json',
    'scripts',
    'tooling/tsconfig',
  ])
    cpSync(join(root, file), join(copy, file), { recursive: true });
  for (const name of ['wait', 'telemetry', 'workqueue']) {
    const manifest = readFileSync(join(root, 'packages', name, 'package.json'), 'utf8');
    write(`packages/${name}/package.json`, manifest);
    write(`packages/${name}/src/index.ts`, 'export const marker: string = "ok";\n');
    for (const file of ['turbo.json', 'tsconfig.build.json'])
      cpSync(join(root, 'packages', name, file), join(copy, 'packages', name, file));
  }
  write('packages/wait/src/inner.ts', 'export const inner: string = "ok";\n');
  for (const name of ['wait', 'telemetry', 'workqueue']) {
    const links: Record<string, readonly string[]> = {
      wait: ['workqueue', 'telemetry'],
      telemetry: ['wait'],
      workqueue: ['wait'],
    };
    mkdirSync(join(copy, 'packages', name, 'node_modules', '@kctl'), { recursive: true });
    for (const other of links[name] ?? [])
      symlinkSync(join(copy, 'packages', other), join(copy, 'packages', name, 'node_modules', '@kctl', other));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe('the dependency map', () => {
  it('lets clean packages pass', () => {
    withFile(
      'packages/workqueue/src/down.ts',
      "import { marker } from '@kctl/wait';\nexport const down: string = marker;\n",
      () => {
        const verdict = cruise();
        expect(verdict.output).not.toContain('error ');
        expect(verdict.passed).toBe(true);
      },
    );
  });

  /** In files of their own, so that one run of the tool judges them all. */
  const faults = [
    {
      name: 'an upward import',
      file: 'packages/wait/src/upward.ts',
      content: "import { marker } from '@kctl/workqueue';\nexport const fault: string = marker;\n",
      rule: 'layer-1-downward-only',
    },
    {
      name: 'a sibling import',
      file: 'packages/telemetry/src/sibling.ts',
      content: "import { marker } from '@kctl/wait';\nexport const fault: string = marker;\n",
      rule: 'layer-1-downward-only',
    },
    {
      name: 'a deep import',
      file: 'packages/workqueue/src/deep.ts',
      content: "import { inner } from '../../wait/src/inner.js';\nexport const fault: string = inner;\n",
      rule: 'no-deep-import-across-packages',
    },
    {
      name: 'an undeclared dependency',
      file: 'packages/wait/src/undeclared.ts',
      content: "import { publint } from 'publint';\nexport const fault: unknown = publint;\n",
      rule: 'no-undeclared-dependency',
    },
    {
      name: 'an import of the own barrel',
      file: 'packages/wait/src/barrel.ts',
      content: "import { marker } from './index.js';\nexport const fault: string = marker;\n",
      rule: 'no-self-barrel',
    },
    {
      name: 'an import that does not resolve',
      file: 'packages/wait/src/unresolvable.ts',
      content: "import { gone } from './gone.js';\nexport const fault: unknown = gone;\n",
      rule: 'no-unresolvable',
    },
    {
      name: 'a test imported by a source',
      file: 'packages/wait/src/tested.ts',
      content: "import { t } from './t.test.js';\nexport const fault: unknown = t;\n",
      rule: 'no-tests-in-source',
    },
    {
      name: 'a cycle',
      file: 'packages/wait/src/a.ts',
      content: "import { b } from './b.js';\nexport const a: () => unknown = () => b;\n",
      rule: 'no-cycles',
    },
    {
      name: 'a cycle between folders',
      file: 'packages/wait/src/one/a.ts',
      content: "import { b } from '../two/b.js';\nexport const fault: string = b;\n",
      rule: 'no-cycles-between-folders',
      at: 'packages/wait/src/one',
    },
    {
      name: 'an upward import between the rooms of the server',
      file: 'packages/apiserver/src/json/upward.ts',
      content: "import { create } from '../handlers/create.js';\nexport const fault: string = create;\n",
      rule: 'apiserver-rooms-downward-only',
    },
  ];

  /** What the faults import. */
  const parts = [
    ['packages/wait/src/b.ts', "import { a } from './a.js';\nexport const b: () => unknown = () => a;\n"],
    ['packages/wait/src/t.test.ts', 'export const t: string = "ok";\n'],
    ['packages/wait/src/two/b.ts', 'export const b: string = "ok";\n'],
    ['packages/wait/src/two/c.ts', "import { d } from '../one/d.js';\nexport const c: string = d;\n"],
    ['packages/wait/src/one/d.ts', 'export const d: string = "ok";\n'],
    ['packages/apiserver/src/handlers/create.ts', 'export const create: string = "ok";\n'],
  ] as const;

  describe('catches', () => {
    let verdict: Verdict;
    beforeAll(() => {
      for (const { file, content } of faults) write(file, content);
      for (const [file, content] of parts) write(file, content);
      verdict = cruise();
    });
    afterAll(() => {
      for (const { file } of faults) rmSync(join(copy, file));
      for (const [file] of parts) rmSync(join(copy, file));
    });

    it.each(faults)('$name', ({ file, rule, at = file }) => {
      expect(verdict.passed).toBe(false);
      expect(verdict.output).toContain(`error ${rule}: ${at} →`);
    });
  });

  it('catches references and tags that differ from the list', () => {
    expect(run('node', ['scripts/sync-packages.mjs']).passed).toBe(true);
    expect(derived().output).toBe('');
    withFile('packages/workqueue/turbo.json', '{ "extends": ["//"], "tags": ["layer-0"] }\n', () => {
      const verdict = derived();
      expect(verdict.passed).toBe(false);
      expect(verdict.output).toContain('packages/workqueue/turbo.json is stale');
    });
    cpSync(join(root, 'packages/workqueue/turbo.json'), join(copy, 'packages/workqueue/turbo.json'));
  });

  it('catches a diagram that differs from the list', () => {
    const marks = ['diagram', 'path'].map((mark) => `<!-- ${mark}:begin -->\nold\n<!-- ${mark}:end -->\n`);
    write('ARCHITECTURE.md', `# A\n${marks.join('')}`);
    write('docs/concepts/path-of-an-event.md', '| `wait/src/inner.ts` | Waits. |\n');
    write('README.md', '# R\n<!-- packages:begin -->\nold\n<!-- packages:end -->\n');
    const architecture = readFileSync(join(copy, 'architecture.json'), 'utf8');
    const small: unknown = {
      ...JSON.parse(architecture),
      layers: [
        { layer: 0, packages: ['wait', 'telemetry'] },
        { layer: 1, packages: ['workqueue'] },
      ],
    };
    write('architecture.json', JSON.stringify(small));
    try {
      expect(run('node', ['scripts/architecture.mjs', '--check']).output).toContain('ARCHITECTURE.md is stale');
      expect(run('node', ['scripts/architecture.mjs']).passed).toBe(true);
      expect(run('node', ['scripts/architecture.mjs', '--check'])).toEqual({ passed: true, output: '' });
    } finally {
      write('architecture.json', architecture);
    }
  });
});
