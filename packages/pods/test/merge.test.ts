import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { merge } from '../src/logs/merge.js';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

async function collectGarbage(): Promise<void> {
  if (typeof collect !== 'function') throw new Error('no gc');
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setImmediate(resolve));
    Reflect.apply(collect, undefined, []);
  }
}

it('holds no line that was handed out while another source is quiet', async () => {
  const quiet = Promise.withResolvers<undefined>();
  const source = async function* (lines: number, until?: Promise<undefined>): AsyncGenerator<object, void, undefined> {
    for (let line = 0; line < lines; line++) yield { line };
    await until;
  };
  const merged = merge([source(0, quiet.promise), source(100)]);
  const lines: WeakRef<object>[] = [];
  for (let line = 0; line < 100; line++) {
    const { value } = await merged.next();
    lines.push(new WeakRef(value ?? {}));
  }
  await collectGarbage();
  expect(lines.filter((line) => line.deref() !== undefined).length).toBeLessThan(5);
  quiet.resolve(undefined);
  expect(await merged.next()).toEqual({ value: undefined, done: true });
});

it('hands out what arrived before a failure, then fails', async () => {
  const failing = async function* (): AsyncGenerator<string, void, undefined> {
    yield 'a';
    throw new Error('lost');
  };
  const endless = async function* (): AsyncGenerator<string, void, undefined> {
    await new Promise(() => undefined);
    yield 'never';
  };
  const merged = merge([endless(), failing()]);
  expect(await merged.next()).toEqual({ value: 'a', done: false });
  await expect(merged.next()).rejects.toThrow('lost');
});
