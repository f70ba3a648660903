import { PassThrough } from 'node:stream';
import type { Step } from '@kctl/simulation';
import { expect, it } from 'vitest';
import { stepThrough } from '../src/step-through.js';

const steps: readonly Step[] = Array.from({ length: 60 }, (_, index) => ({
  at: 1000 * index,
  who: index === 30 ? 'fault' : index === 50 ? 'rule' : 'replica-1',
  object: `widgets demo/w${index % 3}`,
  what: `step ${index}`,
}));

/** What a terminal shows when these lines are typed at its prompts. */
async function typed(lines: readonly string[], { end = false } = {}): Promise<string[]> {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const output = new PassThrough();
  let shown = '';
  let asked = 0;
  output.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    // A terminal writes its prompt again for each character that is typed.
    if ((shown.match(/\d+\/60> /g)?.length ?? 0) <= asked) return;
    const line = lines[asked++];
    if (line !== undefined) input.write(`${line}\r`);
    else if (end) input.end();
  });
  await stepThrough(steps, { input, output });
  return [...shown.matchAll(/: (step \d+)/g)].map(([, step = '']) => step);
}

it('shows as many steps as are asked for', async () => {
  expect(await typed(['3', '', 'q'])).toEqual(Array.from({ length: 23 }, (_, index) => `step ${index}`));
});

it('goes on to the next fault, the broken rule, a text', async () => {
  expect((await typed(['f', 'q'])).at(-1)).toBe('step 30');
  expect((await typed(['r', 'q'])).at(-1)).toBe('step 50');
  expect((await typed(['/step 41', 'q'])).at(-1)).toBe('step 41');
});

it('shows only what has a text', async () => {
  expect(await typed(['only w2', '2', 'q'])).toEqual(['step 2', 'step 5']);
});

it('ends with the input', async () => {
  expect(await typed([], { end: true })).toEqual([]);
});

it('shows all steps where no person looks on', async () => {
  const output = new PassThrough();
  await stepThrough(steps, { input: new PassThrough(), output });
  expect(String(output.read()).split('\n')).toHaveLength(61);
});
