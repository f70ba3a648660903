import { defineKind } from '@kctl/apimachinery';
import type { Kind, KubeObject } from '@kctl/apimachinery';
import { inject } from '@kctl/controller';
import { createManager } from '@kctl/manager';
import { noopLogger, type LogFields } from '@kctl/telemetry';
import { settle } from '@kctl/wait/testing';
import {
  conversionWebhook,
  createWebhookServer,
  hubSpokeConverter,
  webhookConfigurations,
  type Converter,
  type Validator,
  type WebhookHandler,
  type WebhookServer,
} from '@kctl/webhook';
import { describe, expect, it } from 'vitest';
import { isDefinitionError, webhookManagedBy, type WebhookOptions } from '../src/index.js';
import { fakeCluster } from './fakes.js';

interface App extends KubeObject {
  spec: { replicas?: number };
}
const App = defineKind<App>()({ group: 'apps.example.com', version: 'v1', kind: 'App', scope: 'Namespaced' });
const Other = defineKind({ group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' });

class FakeWebhookServer implements WebhookServer {
  readonly handlers = new Map<string, WebhookHandler>();
  port: number | undefined;
  runs = 0;

  register(path: string, handler: WebhookHandler): void {
    this.handlers.set(path, handler);
  }

  has(path: string): boolean {
    return this.handlers.has(path);
  }

  async run(signal: AbortSignal): Promise<void> {
    this.runs++;
    this.port = 1;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }

  checkStarted(): void {
    if (this.port === undefined) throw new Error('webhook server has not been started yet');
  }
}

function setUp() {
  const webhookServer = new FakeWebhookServer();
  const manager = createManager({ cluster: fakeCluster(), webhookServer });
  return { webhookServer, manager };
}

const problemsOf = (define: () => unknown): readonly string[] => {
  try {
    define();
    return [];
  } catch (error) {
    if (isDefinitionError(error)) return error.problems;
    throw error;
  }
};

describe('webhookManagedBy', () => {
  it('registers what was given behind the paths of upstream', () => {
    const { manager, webhookServer } = setUp();
    const paths = webhookManagedBy(manager, App)
      .withDefaulter((draft) => {
        draft.spec.replicas ??= 1;
      })
      .withValidator({ validateCreate: () => undefined })
      .withConverter((object) => object)
      .complete();
    expect(paths).toEqual(['/mutate-apps-example-com-v1-app', '/validate-apps-example-com-v1-app', '/convert']);
    expect([...webhookServer.handlers.keys()]).toEqual(paths);
  });

  it('registers rules that filter themselves, each behind a path and with a name of its own', () => {
    const { manager, webhookServer } = setUp();
    const paths = webhookManagedBy(manager)
      .for(App)
      .withValidator({ validateCreate: () => undefined })
      .validate({ on: ['create'], namespaces: ['demo'], labels: { team: '*' } }, ({ spec }) => {
        if (spec.replicas === 0) throw new Error('none');
      })
      .mutate((draft) => void (draft.spec.replicas ??= 1))
      .validate({ on: ['delete'], name: 'no-deletes.apps.example.com', timeoutSeconds: 3 }, () => ['a warning'])
      .complete();
    expect(paths).toEqual([
      '/validate-apps-example-com-v1-app',
      '/validate-apps-example-com-v1-app/1',
      '/mutate-apps-example-com-v1-app/1',
      '/validate-apps-example-com-v1-app/2',
    ]);
    const webhooks = webhookConfigurations(webhookServer.handlers, {
      name: 'app',
      address: { url: 'https://localhost' },
    }).flatMap((configuration) => configuration.webhooks ?? []);
    expect(
      webhooks.map(({ name, rules, objectSelector, timeoutSeconds }) => [
        name,
        rules?.[0]?.operations,
        objectSelector,
        timeoutSeconds,
      ]),
    ).toEqual([
      ['mapp-1.v1.apps.example.com', ['CREATE', 'UPDATE'], undefined, 10],
      ['vapp-v1.apps.example.com', ['CREATE'], undefined, 10],
      ['vapp-1.v1.apps.example.com', ['CREATE'], { matchExpressions: [{ key: 'team', operator: 'Exists' }] }, 10],
      ['no-deletes.apps.example.com', ['DELETE'], undefined, 3],
    ]);
  });

  it('refuses rules that cannot be, with every mistake, and registers nothing', () => {
    const { manager, webhookServer } = setUp();
    const define = () =>
      webhookManagedBy(manager)
        .for(Other)
        .validate({ on: ['create'] }, () => undefined)
        .validate({ namespaces: ['demo'] }, 'a text' as never)
        .mutate({ on: ['delete'], namespaces: ['demo'] }, () => undefined)
        .validate({ operations: ['CREATE'] } as never, () => undefined)
        .complete();
    expect(problemsOf(define)).toEqual([
      expect.stringContaining('failurePolicy Fail on Pod without a selector stops that kind in the whole cluster'),
      'validate() number 2: the rule is not a function: expected validate(filter, (object) => …)',
      'rule for Pod v1: on: a delete cannot be mutated: leave it out, or validate it',
      expect.stringContaining('unknown option "operations"'),
    ]);
    expect(webhookServer.handlers.size).toBe(0);
    const twice = () =>
      webhookManagedBy(manager)
        .for(App)
        .validate(() => undefined)
        .complete();
    twice();
    expect(problemsOf(twice)).toEqual([
      expect.stringContaining('path /validate-apps-example-com-v1-app/1 has a handler already'),
    ]);
  });

  it('refuses a path that has a handler, because what is skipped validates nothing', () => {
    const { manager, webhookServer } = setUp();
    const define = (path: string) =>
      webhookManagedBy(manager).for(App).withValidator({}).withValidatorCustomPath(path).complete();
    expect(define('/mine')).toEqual(['/mine']);
    const first = webhookServer.handlers.get('/mine');
    expect(problemsOf(() => define('/mine'))).toEqual([
      'path /mine has a handler already: join validators with chainValidators, or give a custom path',
    ]);
    expect(webhookServer.handlers.get('/mine')).toBe(first);
    expect(define('/other')).toEqual(['/other']);
    const same = () =>
      webhookManagedBy(manager, App)
        .withDefaulter(() => undefined)
        .withDefaulterCustomPath('/both')
        .withValidator({})
        .withValidatorCustomPath('/both')
        .complete();
    expect(problemsOf(same)).toEqual([expect.stringContaining('path /both has a handler already')]);
    expect(webhookServer.handlers.has('/both')).toBe(false);
  });

  it('takes kinds and versions side by side', () => {
    const { manager, webhookServer } = setUp();
    const AppV2 = defineKind<App>()({ group: 'apps.example.com', version: 'v2', kind: 'App', scope: 'Namespaced' });
    for (const kind of [App, AppV2]) webhookManagedBy(manager).for(kind).withValidator({}).complete();
    webhookManagedBy(manager).for(Other).withValidator({}).complete();
    expect([...webhookServer.handlers.keys()]).toEqual([
      '/validate-apps-example-com-v1-app',
      '/validate-apps-example-com-v2-app',
      '/validate--v1-pod',
    ]);
  });

  it('reports what is given twice, no kind, and a registration that is dangerous', () => {
    const { manager, webhookServer } = setUp();
    const twice = () =>
      webhookManagedBy(manager, App)
        .withValidator({})
        .withValidator({ validateCreate: () => undefined })
        .complete();
    expect(problemsOf(twice)).toEqual(['withValidator() is given twice: join them with chainValidators']);
    const none = () =>
      webhookManagedBy(manager, undefined as never)
        .withValidator({})
        .complete();
    expect(problemsOf(none)).toEqual([expect.stringContaining('that is not a kind: is its import right?')]);
    const validator = { validateCreate: () => undefined };
    const onPods = (options: object) => () =>
      webhookManagedBy(manager).for(Other).withValidator(validator, options).complete();
    expect(problemsOf(onPods({ failurePolicy: 'Fail' }))).toEqual([
      expect.stringContaining('failurePolicy Fail on Pod without a selector stops that kind in the whole cluster'),
    ]);
    expect(webhookServer.handlers.size).toBe(0);
    expect(onPods({ failurePolicy: 'Fail', confirm: ['core-kinds'] })()).toEqual(['/validate--v1-pod']);
  });

  const creates: Validator<unknown> = { validateCreate: () => undefined };
  interface Underivable {
    readonly what: string;
    readonly kind: Kind;
    readonly validator: Validator<unknown>;
    readonly options?: WebhookOptions;
    readonly problem?: RegExp;
  }
  it.each<Underivable>([
    {
      what: 'a kind of Kubernetes itself that fails closed',
      kind: Other,
      validator: creates,
      problem: /failurePolicy Fail on Pod/,
    },
    { what: 'one that fails open', kind: Other, validator: creates, options: { failurePolicy: 'Ignore' } },
    {
      what: 'one with a selector',
      kind: Other,
      validator: creates,
      options: { objectSelector: { matchLabels: { a: 'b' } } },
    },
    { what: 'a custom kind', kind: App, validator: creates },
    { what: 'a validator without a member', kind: App, validator: {}, problem: /there is no operation/ },
  ])('warns at complete() when no configuration can be derived: $what', ({ kind, validator, options, problem }) => {
    const warnings: LogFields[] = [];
    const webhookServer = new FakeWebhookServer();
    const logger = { ...noopLogger, warn: (_message: string, fields: LogFields = {}) => void warnings.push(fields) };
    const manager = createManager({ cluster: fakeCluster(), webhookServer, logger });
    const paths = webhookManagedBy(manager).for(kind).withValidator(validator, options).complete();
    expect(warnings).toEqual(
      problem === undefined ? [] : [{ path: paths[0], problem: expect.stringMatching(problem) }],
    );
    const derive = (): unknown =>
      webhookConfigurations(webhookServer.handlers, { name: 'x', address: { url: 'https://x' } });
    if (problem === undefined) expect(derive).not.toThrow();
    else expect(derive).toThrow(problem);
  });

  it('checks that a hub spoke converter is of the kind and has its version', () => {
    const { manager } = setUp();
    const define = (converter: Converter) => () =>
      webhookManagedBy(manager).for(App).withConverter(converter).complete();
    expect(problemsOf(define(hubSpokeConverter(Other)))).toEqual(['the converter is of Pod']);
    const AppV2 = defineKind<App>()({ group: 'apps.example.com', version: 'v2', kind: 'App', scope: 'Namespaced' });
    expect(problemsOf(define(hubSpokeConverter(AppV2)))).toEqual([
      expect.stringContaining('does not convert version v1'),
    ]);
    expect(define(hubSpokeConverter(App))()).toEqual(['/convert']);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['injected as nothing', inject({ logger: true }, () => undefined)],
  ])('refuses a defaulter, validator or converter that is %s: nothing would be served', (_what, given) => {
    const { manager, webhookServer } = setUp();
    const nothing = given as never;
    expect(problemsOf(() => webhookManagedBy(manager, App).withDefaulter(nothing).complete())).toEqual([
      expect.stringContaining('the defaulter is'),
    ]);
    expect(problemsOf(() => webhookManagedBy(manager, App).withValidator(nothing).complete())).toEqual([
      expect.stringContaining('the validator is'),
    ]);
    expect(problemsOf(() => webhookManagedBy(manager, App).withConverter(nothing).complete())).toEqual([
      expect.stringContaining('the converter is'),
    ]);
    expect(webhookServer.handlers.size).toBe(0);
  });

  it('shares /convert among kinds', async () => {
    const { manager } = setUp();
    webhookManagedBy(manager, App)
      .withConverter((object) => ({ ...object, apiVersion: 'x/v2' }))
      .complete();
    webhookManagedBy(manager, Other)
      .withConverter((object) => object)
      .complete();
    const convert = async (apiVersion: string, kind: string) =>
      manager.converters.convert({ apiVersion, kind, metadata: {} }, 'v2');
    expect(await convert('apps.example.com/v1', 'App')).toMatchObject({ apiVersion: 'x/v2' });
    await expect(convert('v1', 'Node')).rejects.toThrow('no converter is registered for Node');
    for (const none of [undefined, null, {}])
      expect(() => manager.converters.register({ group: '', kind: 'Node' }, none as never)).toThrow(
        'expected a function',
      );
    expect(
      problemsOf(() =>
        webhookManagedBy(manager, App)
          .withConverter((object) => object)
          .complete(),
      ),
    ).toEqual(['App.apps.example.com has a converter already']);
  });

  it('refuses a converter where something else is behind /convert: no object would be converted', () => {
    const problem = 'path /convert has a handler that does not convert';
    const keep: Converter = (object) => object;
    const inOne = setUp();
    expect(
      problemsOf(() =>
        webhookManagedBy(inOne.manager, App)
          .withValidator({ validateCreate: () => undefined })
          .withValidatorCustomPath('/convert')
          .withConverter(keep)
          .complete(),
      ),
    ).toEqual([expect.stringContaining(problem)]);
    expect(inOne.webhookServer.handlers.size).toBe(0);
    const webhookServer = createWebhookServer({ port: -1 });
    const manager = createManager({ cluster: fakeCluster(), webhookServer });
    webhookServer.register('/convert', (_request, response) => void response.end());
    const define = (): readonly string[] => webhookManagedBy(manager, App).withConverter(keep).complete();
    expect(problemsOf(define)).toEqual([expect.stringContaining(problem)]);
    const byHand = createManager({ cluster: fakeCluster(), webhookServer: createWebhookServer({ port: -1 }) });
    byHand.webhookServer.register('/convert', conversionWebhook(byHand.converters.convert));
    expect(webhookManagedBy(byHand, App).withConverter(keep).complete()).toEqual(['/convert']);
    const apart = createManager({ cluster: fakeCluster(), webhookServer: createWebhookServer({ port: -1 }) });
    apart.webhookServer.register('/convert', conversionWebhook(keep));
    expect(problemsOf(() => webhookManagedBy(apart, App).withConverter(keep).complete())).toEqual([
      expect.stringContaining('path /convert has a conversion webhook with a converter of its own'),
    ]);
  });

  it('refuses a second custom path: the first would silently have no effect', () => {
    const { manager, webhookServer } = setUp();
    const problems = problemsOf(() =>
      webhookManagedBy(manager, App)
        .withDefaulter(() => undefined)
        .withDefaulterCustomPath('/a')
        .withDefaulterCustomPath('/b')
        .withValidator({ validateCreate: () => undefined })
        .withValidatorCustomPath('/c')
        .withValidatorCustomPath('/c')
        .withValidatorCustomPath('/d')
        .complete(),
    );
    expect(problems).toEqual([
      'withDefaulterCustomPath() is given twice, with "/a" and "/b": give it once',
      'withValidatorCustomPath() is given twice, with "/c" and "/d": give it once',
    ]);
    expect(webhookServer.handlers.size).toBe(0);
  });

  it('reports all mistakes at once and registers nothing', () => {
    const { manager, webhookServer } = setUp();
    const problems = problemsOf(() =>
      webhookManagedBy(manager, App)
        .withDefaulter(inject({ mapper: true }, (_: { mapper: object }) => () => undefined))
        .withDefaulterCustomPath('no slash')
        .withValidatorCustomPath('/fine')
        .complete(),
    );
    expect(problems).toEqual([
      expect.stringContaining('withDefaulterCustomPath: "no slash" is not a valid path'),
      'withValidatorCustomPath needs withValidator()',
      expect.stringContaining('the defaulter needs "mapper"'),
    ]);
    expect(webhookServer.handlers.size).toBe(0);
    expect(problemsOf(() => webhookManagedBy(manager, App).complete())).toEqual([
      expect.stringContaining('there is nothing to serve'),
    ]);
    const bare = createManager({ cluster: fakeCluster() });
    expect(problemsOf(() => webhookManagedBy(bare, App).withValidator({}).complete())).toEqual([
      expect.stringContaining('there is no webhook server'),
    ]);
  });

  it('has a manager start whose webhook server is off (port -1)', async () => {
    const webhookServer = createWebhookServer({ port: -1 });
    const manager = createManager({ cluster: fakeCluster(), webhookServer });
    webhookManagedBy(manager).for(App).withValidator({}).complete();
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await manager.elected;
    stop.abort();
    await done;
  });

  it('has the manager run the server only when it is asked for', async () => {
    for (const isAsked of [true, false]) {
      const { manager, webhookServer } = setUp();
      if (isAsked) webhookManagedBy(manager, App).withValidator({}).complete();
      const stop = new AbortController();
      const done = manager.run(stop.signal);
      await manager.elected;
      await settle();
      expect(webhookServer.runs).toBe(isAsked ? 1 : 0);
      stop.abort();
      await done;
    }
  });
});

describe('webhookManagedBy without what it needs', () => {
  it.each<[unknown, unknown, string]>([
    [undefined, App, 'must provide a non-nil Manager: webhookManagedBy() was called with undefined'],
    [createManager({ cluster: fakeCluster() }), undefined, 'that is not a kind: is its import right?'],
  ])('is a definition error: %o, %o', (host, kind, problem) => {
    let failure: unknown;
    try {
      webhookManagedBy(host as never, kind as never).complete();
    } catch (error) {
      failure = error;
    }
    expect(isDefinitionError(failure) && failure.message).toContain(problem);
  });
});
