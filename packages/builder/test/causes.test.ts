// What a part of a definition throws is the cause of its error: without it, nothing says where that part is.
import { defineKind } from '@kctl/apimachinery';
import { inject, type Source, type StartedSource } from '@kctl/controller';
import { createManager } from '@kctl/manager';
import { createWebhookServer } from '@kctl/webhook';
import { describe, expect, it } from 'vitest';
import { controllerManagedBy, webhookManagedBy } from '../src/index.js';
import { DefinitionError } from '../src/internal/index.js';
import { withEvents } from '../src/own-ends.js';
import { fakeCluster } from './fakes.js';

const App = defineKind({ group: 'apps.example.com', version: 'v1', kind: 'App', scope: 'Namespaced' });
const newManager = () => createManager({ cluster: fakeCluster(), webhookServer: createWebhookServer({ port: -1 }) });
const failure = (message: string): Error => new Error(message);
const broken = (error: Error): never =>
  inject({ client: true }, () => {
    throw error;
  }) as never;

function causeOf(define: () => unknown): unknown {
  try {
    define();
  } catch (error) {
    return (error as Error).cause;
  }
  return 'nothing was thrown';
}

describe('the cause of a DefinitionError', () => {
  it('is what a part threw, of controllers and of webhooks', () => {
    const error = failure('no such part');
    expect(causeOf(() => controllerManagedBy(newManager()).for(App).complete(broken(error)))).toBe(error);
    expect(causeOf(() => webhookManagedBy(newManager(), App).withValidator(broken(error)).complete())).toBe(error);
  });

  it('is all that was thrown, where that is more', () => {
    const errors = [failure('first'), failure('second')];
    const define = () =>
      controllerManagedBy(newManager()).for(App).withEventFilter(broken(errors[0]!)).complete(broken(errors[1]!));
    expect(causeOf(define)).toBeInstanceOf(AggregateError);
    expect(causeOf(define)).toMatchObject({ errors });
  });

  it.each([
    [null, 'reconcile: '],
    [5, 'reconcile: '],
    [{ finalizers: 5 }, 'finalizers is a value of type number'],
  ])('is not what the engine says of the options %j of reconcile()', (options, problem) => {
    const define = () =>
      controllerManagedBy(newManager())
        .for(App)
        .reconcile(async () => undefined, options as never);
    expect(define).toThrow(DefinitionError);
    expect(define).toThrow(problem);
  });

  it('is none where nothing was thrown', () => {
    expect(causeOf(() => controllerManagedBy(newManager()).complete(async () => undefined))).toBeUndefined();
  });
});

describe('withEvents', () => {
  const logged = (log: string[], name: string, start?: () => never): Source<never> => ({
    name,
    start: (): Promise<StartedSource> => {
      start?.();
      log.push(`${name} starts`);
      return Promise.resolve({ stop: () => void log.push(`${name} ends`) });
    },
  });
  const fail = (): never => {
    throw failure('cannot start');
  };

  it.each([
    ['first', true, false],
    ['second', false, true],
  ])('leaves nothing behind where the %s source does not start', async (_which, isFirst, isSecond) => {
    const log: string[] = [];
    const joined = withEvents(
      logged(log, 'main', isFirst ? fail : undefined),
      logged(log, 'more', isSecond ? fail : undefined),
    );
    await expect(joined.start({} as never)).rejects.toThrow('cannot start');
    expect(log.filter((line) => line.endsWith('starts'))).toHaveLength(
      log.filter((line) => line.endsWith('ends')).length,
    );
  });
});
