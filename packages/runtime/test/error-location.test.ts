import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment, eventually, type TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { controllerManagedBy, createConsoleLogger, createManager } from '../src/index.js';
import { faulty } from './fixtures/faulty-reconcilers.js';

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded' });
});
afterAll(() => environment.stop());

/** What is thrown here has no stack of the reconciler: a text, and the reason of a signal that a timer aborted. */
const withoutFrames = new Set(['rejectedText', 'abortedByItself']);

describe.each(['json', 'text'] as const)('an error of a reconciler in the log (%s)', (format) => {
  it.each(Object.keys(faulty).filter((name) => !withoutFrames.has(name)))('leads to the line: %s', async (name) => {
    const frames = framesOf(await firstError(name, format));
    expect(frames[0]).toContain('faulty-reconcilers.ts');
    expect(frames.slice(0, 2).join()).toContain(name.startsWith('typeErrorIn') ? 'mutate' : name);
  });

  it.each([...withoutFrames])('names controller, object and cause: %s', async (name) => {
    const entry = await firstError(name, format);
    expect(entry).toContain(name === 'rejectedText' ? 'only a text' : 'aborted due to timeout');
    expect(entry).toMatch(/name["=:]+subject/);
  });

  it('contains the message of a bug once', async () => {
    const entry = await firstError('typeErrorAtOnce', format);
    expect(entry.split('Cannot read properties of undefined')).toHaveLength(2);
  });
});

function framesOf(entry: string): string[] {
  return entry
    .replaceAll('\\n', '\n')
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
}

async function firstError(name: string, format: 'json' | 'text'): Promise<string> {
  const namespace = await environment.createNamespace('faulty');
  await environment.client.create(ConfigMap, { metadata: { namespace, name: 'subject' } });
  const entries: string[] = [];
  const manager = await createManager({
    connection: environment.connection,
    logger: createConsoleLogger({ format, write: (line) => entries.push(line) }),
    cache: { defaultNamespaces: { [namespace]: {} } },
  });
  controllerManagedBy(manager)
    .named(name)
    .for(ConfigMap)
    .complete(async (request, context) => {
      if (request.name !== 'subject') return;
      await faulty[name]?.(manager, request, context);
    });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await eventually(() => {
    expect(entries.some((entry) => entry.includes('Reconciler error'))).toBe(true);
  });
  stop.abort();
  await running;
  return entries.find((entry) => entry.includes('Reconciler error')) ?? '';
}
