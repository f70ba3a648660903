// `pnpm simulate -- …` as it is called.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const program = ['--import', './scripts/typescript.mjs', '--conditions=@kctl/source', 'e2e/simulation/src/main.ts'];

async function simulate(...given: string[]): Promise<{ code: number | null; output: string; errors: string }> {
  const child = spawn(process.execPath, [...program, ...given], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve));
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, output, errors };
}

const quick = [
  '--compare',
  'no',
  '--verify',
  'no',
  '--shrink',
  'no',
  '--quiet-minutes',
  '1',
  '--operator',
  'workbench',
];

describe('pnpm simulate', () => {
  it('runs so many seeds of so many minutes from a seed on, and says what came of each', async () => {
    const { code, output } = await simulate('--', '--seeds', '2', '--seed', '5', '--minutes', '1', ...quick);
    expect(output).toMatch(/^workbench: seed 5, \d+\.\d h, \d+ faults, trace \S+$/m);
    expect(output).toMatch(/^workbench: seed 6, /m);
    expect(output).not.toMatch(/^workbench: seed [47], /m);
    expect(code).toBe(0);
  });

  it('shows the steps of a seed, which is the same run each time', async () => {
    const lines = ['--replay', '3', '--minutes', '1', '--only', 'two-leaders', ...quick];
    const [first, second] = await Promise.all([simulate(...lines), simulate(...lines)]);
    expect(first.output).toMatch(/^workbench: seed 3, /m);
    expect(first.output).toMatch(/replica-1/);
    expect(withoutCpu(second.output)).toBe(withoutCpu(first.output));
  });

  it.each([
    [['--seeds', 'many'], '--seeds many is not a number'],
    [['--seed'], "'--seed"],
    [['--seedz', '4'], "'--seedz'"],
    [['--operator', 'none'], 'there is no operator "none": expected some of '],
    [['--only', 'convergence', '--only', 'nosuch'], '--only nosuch is not a rule: expected some of two-leaders, '],
    [['--faults', 'crash,stal'], '--faults crash,stal has no fault "stal": expected all, none, or some of '],
  ])('refuses %j before anything runs', async (given, message) => {
    const { code, output, errors } = await simulate(...given);
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(errors).toContain(`simulate: `);
    expect(errors).toContain(message);
    expect(errors).not.toContain('    at ');
  });

  it('lets no bookmark through on a watch that hangs, which would say that nothing was lost', async () => {
    const faults = ['--faults', 'watch-hangs,bookmarks-late,bookmarks-missing', '--intensity', '20'];
    const run = ['--seeds', '1', '--seed', '2', '--minutes', '10', '--only', 'cache-differs'];
    const { code, output } = await simulate(...quick, ...run, ...faults, '--quiet-minutes', '3', '--operator', 'probe');
    expect(output).toMatch(/^probe: seed 2, /m);
    expect({ code, output }).toMatchObject({ code: 0 });
  }, 60_000);

  it('makes a child again that was made and collected while its watch hung', async () => {
    const faults = ['--faults', 'partition', '--intensity', '15', '--replicas', '1'];
    const run = ['--seeds', '1', '--seed', '59', '--minutes', '12', '--quiet-minutes', '3', '--operator', 'obedient'];
    const { code, output } = await simulate(...quick, ...run, ...faults);
    expect(output).toMatch(/^obedient: seed 59, /m);
    expect({ code, output }).toMatchObject({ code: 0 });
  }, 60_000);

  it('names the rule that is nearest to one that there is not', async () => {
    const { code, output, errors } = await simulate('--only', 'two-leader', '--seeds', '1', '--minutes', '1', ...quick);
    expect(code).not.toBe(0);
    expect(output + errors).toContain('two-leaders');
  });
});

/** The table says how much processor time was used. */
const withoutCpu = (output: string): string => output.replace(/\d+(?:\.\d+)? s\b.*/g, '');
