// Options of programs without types: what is not known is named, with the nearest name that is.
import { defineKind } from '@kctl/apimachinery';
import { enqueueRequestForObject, funcSource } from '@kctl/controller';
import { createManager } from '@kctl/manager';
import { createWebhookServer } from '@kctl/webhook';
import { describe, expect, it } from 'vitest';
import { controllerManagedBy, isDefinitionError, webhookManagedBy } from '../src/index.js';
import { FakeCache, fakeCluster } from './fakes.js';

const App = defineKind({ group: 'apps.example.com', version: 'v1', kind: 'App', scope: 'Namespaced' });
const Pod = defineKind({ group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' });
const reconciler = async (): Promise<undefined> => undefined;

function problemsOf(define: () => unknown): readonly string[] {
  try {
    define();
  } catch (error) {
    if (isDefinitionError(error)) return error.problems;
    throw error;
  }
  return [];
}

const newManager = () =>
  createManager({ cluster: fakeCluster(new FakeCache()), webhookServer: createWebhookServer({ port: -1 }) });

describe('options of a definition', () => {
  const handler = enqueueRequestForObject();
  const newBuilder = () => controllerManagedBy(newManager()).named('app');
  type Builder = ReturnType<typeof newBuilder>;
  const methods: Readonly<Record<string, (builder: Builder, options: never) => unknown>> = {
    'for(App.apps.example.com)': (builder, options) => builder.for(App, options),
    'owns(Pod)': (builder, options) => builder.for(App).owns(Pod, options),
    'watches(Pod)': (builder, options) => builder.for(App).watches(Pod, handler, options),
    'watchesMetadata(Pod)': (builder, options) => builder.for(App).watchesMetadata(Pod, handler, options),
  };
  const define = (method: string, options: unknown): readonly string[] =>
    problemsOf(() => {
      const builder = newBuilder();
      methods[method]?.(builder, options as never);
      builder.complete(reconciler);
    });

  describe.each(Object.keys(methods))('%s', (method) => {
    it.each([
      [{ predicate: [] }, 'unknown option "predicate": did you mean "predicates"?'],
      [Object.freeze({ Predicates: [] }), 'unknown option "Predicates": did you mean "predicates"?'],
      [new Proxy({ startpolicy: 'optional' }, {}), 'unknown option "startpolicy": did you mean "startPolicy"?'],
      [null, 'options null is not valid: expected an object of options'],
      [[() => true], 'options of type array is not valid: expected an object of options'],
      [() => true, 'options of type function is not valid: expected an object of options'],
      ['optional', 'options "optional" is not valid: expected an object of options'],
    ])('refuses %o', (options, problem) => {
      expect(define(method, options)).toEqual([`${method}: ${problem}`]);
    });

    it('takes what is undefined for not given', () => {
      expect(define(method, { predicates: undefined, startPolicy: undefined, predicate: undefined })).toEqual([]);
    });

    it('names a start policy that is none', () => {
      expect(define(method, { startPolicy: 'maybe' }).join()).toContain(`startPolicy "maybe" is not valid`);
    });
  });

  it('names every mistake of every input at once', () => {
    const problems = problemsOf(() =>
      controllerManagedBy(newManager())
        .for(App, { onlyMetaData: true } as never)
        .owns(Pod, { matchEveryOwner: 'yes', onlyMetadata: 1 } as never)
        .complete(reconciler),
    );
    expect(problems).toEqual([
      'for(App.apps.example.com): unknown option "onlyMetaData": did you mean "onlyMetadata"?',
      'owns(Pod): onlyMetadata 1 is not valid: expected true or false',
      'owns(Pod): matchEveryOwner "yes" is not valid: expected true or false',
    ]);
  });

  it('has matchEveryOwner for owns alone, and onlyMetadata not for watches', () => {
    expect(define('for(App.apps.example.com)', { matchEveryOwner: true }).join()).toContain('unknown option');
    expect(define('watches(Pod)', { onlyMetadata: true }).join()).toContain('unknown option "onlyMetadata"');
  });

  it.each([
    [{ maxConcurentReconciles: 2 }, 'unknown option "maxConcurentReconciles": did you mean "maxConcurrentReconciles"?'],
    [{ name: 'x' }, 'withOptions: name is not an option here: use named(name)'],
    [{ reconciler }, 'withOptions: reconciler is not an option here: give it to complete(reconciler)'],
    [{ logFields: () => ({}) }, 'withOptions: logFields is not an option here: use withLogFields(logFields)'],
    [{ clock: {} }, "withOptions: clock is not an option here: a controller has its manager's"],
    [null, 'withOptions: options null is not valid: expected an object of options'],
    ['fast', 'withOptions: options "fast" is not valid: expected an object of options'],
  ])('withOptions refuses %o', (options, problem) => {
    const problems = problemsOf(() =>
      controllerManagedBy(newManager())
        .for(App)
        .withOptions(options as never)
        .complete(reconciler),
    );
    expect(problems.join('\n')).toContain(problem);
  });

  it('adds nothing to the manager where an option is refused', async () => {
    const manager = newManager();
    const build = (options: object): unknown =>
      controllerManagedBy(manager)
        .named('once')
        .watchesRawSource(funcSource('f', () => undefined))
        .withOptions(options)
        .complete(reconciler);
    expect(() => build({ hotLop: false })).toThrow('unknown option "hotLop": did you mean "hotLoop"?');
    // The name is free: nothing of the first definition is left.
    expect(build({ hotLoop: false })).toMatchObject({ name: 'once' });
  });
});

describe('options of a webhook', () => {
  it.each([
    [{ faliurePolicy: 'Ignore' }, 'unknown option "faliurePolicy": did you mean "failurePolicy"?'],
    [{ logConstuctor: () => undefined }, 'unknown option "logConstuctor": did you mean "logConstructor"?'],
    [{ timeoutSecond: 5, sideEffect: 'None' }, 'unknown option "sideEffect": did you mean "sideEffects"?'],
    [null, 'expected options, not null'],
  ])('withDefaulter and withValidator refuse %o', (options, problem) => {
    const manager = newManager();
    const problems = problemsOf(() =>
      webhookManagedBy(manager)
        .for(App)
        .withDefaulter(() => undefined, options as never)
        .withValidator({ validateCreate: () => undefined }, options as never)
        .complete(),
    );
    expect(problems).toEqual([
      expect.stringMatching(/^withDefaulter: /) as string,
      expect.stringMatching(/^withValidator: /) as string,
    ]);
    for (const each of problems) expect(each).toContain(problem);
    expect([...(manager.webhookServer.webhooks?.keys() ?? [])]).toEqual([]);
  });
});
