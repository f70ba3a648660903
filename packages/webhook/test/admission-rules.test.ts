/** Rules that filter themselves: by the server, and here; on the embedded server, and (KCTL_TEST_SERVER=real) on a real one. */
import { defineKind } from '@kctl/apimachinery';
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment, eventually, type TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createWebhookServer,
  mutationRule,
  validationRule,
  webhookConfigurations,
  type AdmissionFilter,
  type WebhookRegistration,
} from '../src/index.js';
import { review } from './fixtures.js';
import { harness } from './in-process.js';

const Node = defineKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });

const registrationOf = (filter: AdmissionFilter, registration: WebhookRegistration = {}): WebhookRegistration => {
  const own = { failurePolicy: 'Ignore', ...registration } as const;
  return validationRule(ConfigMap, filter, () => undefined, { registration: own }).target?.registration ?? {};
};
const nameLabel = 'kubernetes.io/metadata.name';

describe('the filter of a rule', () => {
  it('becomes operations and selectors of the registration', () => {
    expect(registrationOf({})).toEqual({ failurePolicy: 'Ignore', operations: ['CREATE', 'UPDATE'] });
    expect(registrationOf({ on: ['delete', 'create'], namespaces: ['b', 'a'] })).toEqual({
      failurePolicy: 'Ignore',
      operations: ['DELETE', 'CREATE'],
      namespaceSelector: { matchExpressions: [{ key: nameLabel, operator: 'In', values: ['a', 'b'] }] },
    });
    expect(registrationOf({ namespaces: ['!kube-system', '!x'] }).namespaceSelector).toEqual({
      matchExpressions: [{ key: nameLabel, operator: 'NotIn', values: ['kube-system', 'x'] }],
    });
    expect(registrationOf({ labels: { app: 'web', team: '*', old: null, tier: ['a', 'b'] } }).objectSelector).toEqual({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'team', operator: 'Exists' },
        { key: 'old', operator: 'DoesNotExist' },
        { key: 'tier', operator: 'In', values: ['a', 'b'] },
      ],
    });
    const given = { name: 'mine', expression: 'true' };
    const { matchConditions = [], namespaceSelector } = registrationOf(
      { namespaces: ['team-*', '!team-x'] },
      { matchConditions: [given] },
    );
    expect(namespaceSelector).toBeUndefined();
    expect(matchConditions[0]).toEqual(given);
    expect(matchConditions[1]?.name).toBe('namespaces');
  });

  it.each<[AdmissionFilter & Record<string, unknown>, WebhookRegistration, string]>([
    [{ on: [] }, {}, 'on: expected a list of "create", "update" or "delete"'],
    [{ on: ['CREATE' as 'create'] }, {}, 'on: "CREATE" is not valid: expected "create", "update" or "delete"'],
    [{ namespaces: ['Demo'] }, {}, 'namespaces: name pattern "Demo" is not valid'],
    [{ namespaces: [] }, {}, 'namespaces: name patterns: the list is empty'],
    [{ namespaces: ['a', '!a'] }, {}, 'namespaces: the patterns choose no namespace'],
    [{ namespaces: ['a'] }, { namespaceSelector: {} }, 'give namespaces or namespaceSelector, not both'],
    [{ labels: { a: 'b' } }, { objectSelector: {} }, 'give labels or objectSelector, not both'],
    [{ labels: { 'a b': 'c' } }, {}, 'labels: '],
    [{}, { operations: ['CREATE'] }, 'give on, not operations'],
    [{ namespace: 'demo' }, {}, 'unknown option "namespace": did you mean "namespaces"'],
  ])('is refused where it cannot be: %j', (filter, registration, message) => {
    expect(() => registrationOf(filter, registration)).toThrow(message);
    expect(() => registrationOf(filter, registration)).toThrow('rule for ConfigMap v1: ');
  });

  it('is refused for namespaces of a kind that has none, and for mutations of a delete', () => {
    expect(() => validationRule(Node, { namespaces: ['a'] }, () => undefined)).toThrow('Node is not namespaced');
    expect(() => mutationRule(ConfigMap, { on: ['delete'] }, () => undefined)).toThrow('a delete cannot be mutated');
  });

  const proto: unknown = JSON.parse('{"__proto__":"a"}');
  it.each<unknown>(['team', [['team']], 5, { team: undefined }, { team: 5 }, { team: [] }, proto])(
    'is refused for the labels %j, which choose nothing or all',
    (labels) => {
      expect(() => validationRule(ConfigMap, { labels } as never, () => undefined)).toThrow('labels: ');
    },
  );

  it('is checked again for each request: what does not match is allowed and not seen', async () => {
    const seen: string[] = [];
    const rule = validationRule(
      ConfigMap,
      { on: ['create', 'update', 'delete'], namespaces: ['team-*'], labels: { team: '*' } },
      ({ metadata }, { operation, oldObject }) => {
        seen.push(`${operation} ${metadata.name} ${oldObject?.metadata.resourceVersion ?? 'new'}`);
        throw new Error('no');
      },
    );
    const { send } = harness(rule);
    const map = (name: string, labelled: boolean, resourceVersion = '1'): ConfigMap => ({
      metadata: { name, resourceVersion, ...(labelled ? { labels: { team: 'red' } } : {}) },
    });
    const request = async (
      operation: string,
      namespace: string,
      { object, oldObject }: { readonly object?: ConfigMap; readonly oldObject?: ConfigMap },
    ): Promise<unknown> => {
      const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
      const { body } = await send(
        review(operation, { kind, namespace, object: object ?? null, oldObject: oldObject ?? null }),
      );
      return body.response.allowed;
    };
    expect(await request('CREATE', 'team-a', { object: map('a', true) })).toBe(false);
    expect(await request('CREATE', 'other', { object: map('b', true) })).toBe(true);
    expect(await request('CREATE', 'team-a', { object: map('c', false) })).toBe(true);
    // An update that takes the label away is judged by the object that had it.
    expect(await request('UPDATE', 'team-a', { object: map('d', false, '3'), oldObject: map('d', true, '2') })).toBe(
      false,
    );
    expect(await request('DELETE', 'team-a', { oldObject: map('e', true, '4') })).toBe(false);
    expect(seen).toEqual(['CREATE a new', 'UPDATE d 2', 'DELETE e 4']);
  });
});

describe('rules that an API server calls', () => {
  let environment: TestEnvironment;
  beforeAll(async () => {
    environment = await createEnvironment();
  });
  afterAll(() => environment[Symbol.asyncDispose]());

  it('see what their filters choose, and nothing else leaves the server', async () => {
    const { client } = environment;
    for (const name of ['team-red', 'team-x', 'demo']) await client.create(Namespace, { metadata: { name } });
    const stop = new AbortController();
    const serving = await environment.prepareWebhooks();
    const server = createWebhookServer({ host: serving.host, port: serving.port, certDir: serving.certDir });
    const seen: string[] = [];
    server.register(
      '/globs',
      validationRule(
        ConfigMap,
        { on: ['create'], namespaces: ['team-*', '!team-x'] },
        ({ metadata }) => {
          seen.push(`globs ${metadata.namespace}/${metadata.name}`);
          if (metadata.name === 'bad') throw new Error('bad is not a name');
          return undefined;
        },
        { registration: { name: 'globs.rules.example.com' } },
      ),
    );
    server.register(
      '/labels',
      validationRule(
        ConfigMap,
        { on: ['create', 'delete'], namespaces: ['demo'], labels: { team: '*' } },
        ({ metadata }, { operation }) => {
          seen.push(`labels ${operation} ${metadata.name}`);
        },
        { registration: { name: 'labels.rules.example.com' } },
      ),
    );
    server.register(
      '/mutate',
      mutationRule(
        ConfigMap,
        { namespaces: ['demo'], labels: { fill: 'yes' } },
        (draft, { operation }) => {
          draft.data = { ...draft.data, by: operation };
        },
        { registration: { name: 'mutate.rules.example.com' } },
      ),
    );
    const running = server.run(stop.signal);
    await eventually(() => {
      expect(server.port).toBeTypeOf('number');
    });
    const address = { service: { name: 'operator', namespace: 'operators' } };
    await environment.installWebhooks(webhookConfigurations(server.webhooks ?? [], { name: 'rules', address }));
    const create = (namespace: string, name: string, labels: Record<string, string> = {}): Promise<ConfigMap> =>
      client.create(ConfigMap, { metadata: { namespace, name, labels } });
    await create('demo', 'plain');
    await create('demo', 'labelled', { team: 'red' });
    await create('team-x', 'bad');
    await create('team-red', 'good');
    await expect(create('team-red', 'bad')).rejects.toThrow('bad is not a name');
    const filled = await create('demo', 'filled', { fill: 'yes' });
    expect(filled.data).toEqual({ by: 'CREATE' });
    expect((await client.update(ConfigMap, { ...filled, data: {} })).data).toEqual({ by: 'UPDATE' });
    await client.delete(ConfigMap, { namespace: 'demo', name: 'labelled' });
    await client.delete(ConfigMap, { namespace: 'demo', name: 'plain' });
    expect(seen).toEqual([
      'labels CREATE labelled',
      'globs team-red/good',
      'globs team-red/bad',
      'labels DELETE labelled',
    ]);
    stop.abort();
    await running;
  });
});
