import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TextOptions } from '@clack/prompts';
import { expect, it, vi } from 'vitest';

const answer = vi.hoisted(() => vi.fn<(options: TextOptions) => Promise<string>>());
vi.mock('@clack/prompts', () => ({
  cancel: () => undefined,
  intro: () => undefined,
  isCancel: () => false,
  outro: () => undefined,
  text: async (options: TextOptions) => await answer(options),
}));

/** What a prompt answers to what is typed. */
function check({ validate }: TextOptions, value: string): unknown {
  return typeof validate === 'function' ? validate(value) : undefined;
}

it('shows its defaults without a value that what is typed would be added to', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'kctl-prompts-'));
  const asked: TextOptions[] = [];
  // Other files of this process have imported it with the real prompts.
  vi.resetModules();
  const { runCreate } = await import('../src/run.js');
  answer.mockImplementation(async (options) => {
    asked.push(options);
    expect(check(options, '')).toBeUndefined();
    return Promise.resolve(options.message === 'Folder' ? 'cache-op' : (options.defaultValue ?? ''));
  });
  try {
    const io = { cwd, isInteractive: true, out: () => undefined, err: () => undefined, npm: () => 0 };
    expect(await runCreate(io, ['--no-install'])).toBe(0);
    expect(asked.map(({ initialValue }) => initialValue)).toEqual([undefined, undefined, undefined, undefined]);
    expect(asked.map(({ placeholder }) => placeholder)).toEqual(['my-operator', 'cache-op', 'example.com', 'Greeting']);
    expect(asked.map((options) => check(options, 'not a name'))).toEqual([
      undefined,
      ...Array.from({ length: 3 }, () => expect.stringContaining('not a name')),
    ]);
    expect(JSON.parse(readFileSync(join(cwd, 'cache-op', 'package.json'), 'utf8'))).toMatchObject({ name: 'cache-op' });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
});
