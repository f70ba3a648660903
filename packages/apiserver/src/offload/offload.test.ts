import { FakeClock } from '@kctl/wait/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createOffload, type Offload } from './offload.js';

function offload(clock = new FakeClock(), cpuTimeMs?: () => Promise<number | undefined>): Offload {
  const made = createOffload({ clock, jobTimeoutMs: 10_000, ...(cpuTimeMs !== undefined && { cpuTimeMs }) });
  onTestFinished(() => made.close());
  return made;
}

test('reads YAML in another thread, exact integers included', async () => {
  const thread = offload();
  expect(await thread.run({ type: 'yaml', text: 'a: 9223372036854775807\nb: [x]\n' })).toEqual({
    json: '{"a":9223372036854775807,"b":["x"]}',
    duplicates: [],
  });
  expect(await thread.run({ type: 'yaml', text: 'a: [' })).toHaveProperty('problem');
});

const slowYaml = { type: 'yaml', text: `a: [${'1, '.repeat(300_000)}]` } as const;

test('a job that uses up its CPU time is terminated, and the next one is done', async () => {
  const clock = new FakeClock();
  let cpuMs = 0;
  const thread = offload(clock, () => Promise.resolve(cpuMs));
  const slow = thread.run(slowYaml);
  const next = thread.run({ type: 'yaml', text: 'a: 1' });
  // Most of the time went to other work on the machine.
  cpuMs = 4_000;
  await clock.advance(10_000);
  await clock.advance(5_000);
  cpuMs = 10_000;
  const ended = expect(slow).rejects.toMatchObject({ status: { code: 413 } });
  await clock.advance(1_000);
  await ended;
  expect(await next).toEqual({ json: '{"a":1}', duplicates: [] });
});

test('a job that takes ten times its CPU time is terminated, and so is one of a thread that does not tell', async () => {
  for (const [advanceMs, cpuMs] of [
    [100_000, 0],
    [10_000, undefined],
  ] as const) {
    const clock = new FakeClock();
    const thread = offload(clock, () => Promise.resolve(cpuMs));
    const ended = expect(thread.run(slowYaml)).rejects.toMatchObject({ status: { code: 413 } });
    for (let passed = 0; passed < advanceMs; passed += 10_000) await clock.advance(10_000);
    await ended;
  }
});

test('what waits fails when the server stops, and an aborted job is not begun', async () => {
  const thread = offload();
  const first = thread.run({ type: 'yaml', text: 'a: 1' });
  const gone = thread.run({ type: 'yaml', text: 'a: 2' }, AbortSignal.abort(new Error('gone')));
  const failures = [expect(gone).rejects.toThrow('gone')];
  await first;
  await Promise.all(failures);
  const late = thread.run({ type: 'yaml', text: 'a: 3' });
  thread.close();
  await expect(late).rejects.toMatchObject({ status: { code: 500 } });
  // No thread is started for what comes after that.
  await expect(thread.run({ type: 'yaml', text: 'a: 4' })).rejects.toMatchObject({ status: { code: 500 } });
});

test('a job whose client has gone is ended, whether it waits or is under way, and the next one is done', async () => {
  const thread = offload(); // the clock stands still: no job takes too long
  const [gone, left] = [new AbortController(), new AbortController()];
  const slow = thread.run(slowYaml, gone.signal);
  const waiting = Array.from({ length: 100 }, () => thread.run({ type: 'yaml', text: 'a: 1' }, left.signal));
  await expect(thread.run({ type: 'yaml', text: 'a: 2' })).rejects.toMatchObject({ status: { code: 429 } });
  left.abort(new Error('hung up'));
  // There is room again at once.
  const next = thread.run({ type: 'yaml', text: 'a: 3' });
  for (const each of waiting) await expect(each).rejects.toThrow('hung up');
  gone.abort(new Error('gone'));
  await expect(slow).rejects.toThrow('gone');
  expect(await next).toEqual({ json: '{"a":3}', duplicates: [] });
});

test('a job that cannot be copied to the thread fails alone', async () => {
  const thread = offload();
  const bad = thread.run({ type: 'rules', schema: {}, object: () => undefined, old: undefined });
  const next = thread.run({ type: 'yaml', text: 'a: 1' });
  await expect(bad).rejects.toThrow('could not be cloned');
  expect(await next).toEqual({ json: '{"a":1}', duplicates: [] });
});
