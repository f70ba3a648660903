import { defineKind, labelSelectorFrom } from '@kctl/apimachinery';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { createHttpClient } from '@kctl/client-http';
import { createEnvironment } from '@kctl/testing';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import {
  admissionWebhook,
  allowed,
  applyWebhookManifests,
  chainValidators,
  createWebhookServer,
  defaultingWebhook,
  hubSpokeConverter,
  printManifests,
  spoke,
  validatingWebhook,
  webhookConfigurations,
  withConversion,
  type WebhookHandler,
  type WebhookRegistration,
} from '../src/index.js';
import { Widget } from './fixtures.js';

const Pod = defineKind({ group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' });
const Deployment = defineKind({ group: 'apps', version: 'v1', kind: 'Deployment', scope: 'Namespaced' });
const Node = defineKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });
const Namespace = defineKind({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' });
const address = { service: { name: 'operator', namespace: 'operators' } };
const allows = { validateCreate: () => undefined, validateDelete: () => undefined };

const of = (path: string, handler: WebhookHandler, options = {}) =>
  webhookConfigurations([[path, handler]], { name: 'op', address, ...options });
const webhookOf = (handler: WebhookHandler, options = {}) => of('/x', handler, options)[0]?.webhooks?.[0];

describe('an address', () => {
  it.each<readonly [unknown, string]>([
    [{}, 'expected url or service, one of them'],
    [{ url: 'https://a', service: { name: 'a', namespace: 'b' } }, 'expected url or service, one of them'],
    [{ service: undefined }, 'expected url or service, one of them'],
    [{ service: { name: 'a' } }, 'address.service is not valid: expected { name, namespace }'],
    [{ service: null }, 'address.service is not valid: expected { name, namespace }'],
    ...['http://a', 'a', '', 'https://u@a', 'https://a?b=c', 'https://a#b', 5].map(
      (url) => [{ url }, `address.url ${JSON.stringify(url)} is not valid: expected https://`] as const,
    ),
  ])('%j is refused, as the API server does', (given, message) => {
    const crd = { metadata: {}, spec: { group: 'ex.io', names: { kind: 'Widget' }, versions: [] } };
    expect(() => webhookConfigurations([], { name: 'op', address: given as never })).toThrow(message);
    expect(() => withConversion(crd as never, { address: given as never })).toThrow(message);
  });

  it('may have a path, and a member that is undefined', () => {
    const url = 'https://hooks.example.com:8443/op/';
    const handler = validatingWebhook(Widget, allows);
    expect(webhookOf(handler, { address: { url, service: undefined } })?.clientConfig).toEqual({
      url: 'https://hooks.example.com:8443/op/x',
    });
  });
});

describe('names and trust', () => {
  const crd = { metadata: {}, spec: { group: 'ex.io', names: { kind: 'Widget' }, versions: [] } };

  it.each([
    ...['', 'Op', 'a b', '-a', 'a'.repeat(241), 5, undefined].map((name) => ({ name })),
    ...['', 'Ns', null].map((operatorNamespace) => ({ operatorNamespace })),
    ...['', ' ', 5].map((caBundle) => ({ caBundle })),
    ...['', 'serving', 'a/b/c', '/b', 5].map((injectCaFrom) => ({ injectCaFrom })),
  ])('%j are refused: the webhooks could not be called, or would be in the way', (options) => {
    const [option = ''] = Object.keys(options);
    expect(() => webhookConfigurations([], { name: 'op', address, ...options } as never)).toThrow(
      `webhookConfigurations: ${option} `,
    );
    if (option === 'caBundle' || option === 'injectCaFrom')
      expect(() => withConversion(crd as never, { address, ...options } as never)).toThrow(
        `withConversion: ${option} `,
      );
  });

  it.each(['', 'convert', 5])('a conversion does not take the path %j', (path) => {
    expect(() => withConversion(crd as never, { address, path } as never)).toThrow('withConversion: path ');
  });
});

describe('webhookConfigurations', () => {
  it('derives both configurations of what a server has registered, with every default', () => {
    const server = createWebhookServer({ port: -1 });
    server.register(
      '/mutate-ex-io-v1-widget',
      defaultingWebhook(Widget, () => undefined),
    );
    server.register('/validate-ex-io-v1-widget', validatingWebhook(Widget, allows));
    server.register(
      '/raw',
      admissionWebhook(() => allowed()),
    );
    const common = {
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      sideEffects: 'None',
      timeoutSeconds: 10,
      admissionReviewVersions: ['v1'],
      namespaceSelector: {
        matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['operators'] }],
      },
    };
    const rule = { apiGroups: ['ex.io'], apiVersions: ['v1'], resources: ['widgets'], scope: 'Namespaced' };
    const clientConfig = (path: string) => ({
      service: { name: 'operator', namespace: 'operators', port: 443, path },
      caBundle: Buffer.from('PEM').toString('base64'),
    });
    expect(webhookConfigurations(server.webhooks ?? [], { name: 'op', address, caBundle: 'PEM' })).toEqual([
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingWebhookConfiguration',
        metadata: { name: 'op-mutating' },
        webhooks: [
          {
            name: 'mwidget-v1.ex.io',
            clientConfig: clientConfig('/mutate-ex-io-v1-widget'),
            rules: [{ ...rule, operations: ['CREATE', 'UPDATE'] }],
            reinvocationPolicy: 'Never',
            ...common,
          },
        ],
      },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'op-validating' },
        webhooks: [
          {
            name: 'vwidget-v1.ex.io',
            clientConfig: clientConfig('/validate-ex-io-v1-widget'),
            rules: [{ ...rule, operations: ['CREATE', 'DELETE'] }],
            ...common,
          },
        ],
      },
    ]);
  });

  it('writes every field that is given', () => {
    const registration: WebhookRegistration = {
      name: 'a.b.c',
      failurePolicy: 'Ignore',
      matchPolicy: 'Exact',
      timeoutSeconds: 30,
      sideEffects: 'NoneOnDryRun',
      reinvocationPolicy: 'IfNeeded',
      namespaceSelector: { matchLabels: { env: 'prod' } },
      objectSelector: { matchLabels: { app: 'x' } },
      matchConditions: [{ name: 'c', expression: 'true' }],
      operations: ['CREATE'],
      subResources: ['status', 'scale'],
    };
    expect(webhookOf(defaultingWebhook(Widget, () => undefined, { registration }))).toEqual({
      name: 'a.b.c',
      clientConfig: { service: { name: 'operator', namespace: 'operators', port: 443, path: '/x' } },
      rules: [
        {
          apiGroups: ['ex.io'],
          apiVersions: ['v1'],
          operations: ['CREATE'],
          resources: ['widgets', 'widgets/status', 'widgets/scale'],
          scope: 'Namespaced',
        },
      ],
      failurePolicy: 'Ignore',
      matchPolicy: 'Exact',
      timeoutSeconds: 30,
      sideEffects: 'NoneOnDryRun',
      reinvocationPolicy: 'IfNeeded',
      admissionReviewVersions: ['v1'],
      namespaceSelector: { matchLabels: { env: 'prod' } },
      objectSelector: { matchLabels: { app: 'x' } },
      matchConditions: [{ name: 'c', expression: 'true' }],
    });
  });

  it('asks about the verbs that a chain of validators has members for', () => {
    const chain = chainValidators({ validateCreate: () => undefined }, { validateDelete: () => undefined });
    expect(webhookOf(validatingWebhook(Widget, chain))?.rules?.[0]?.operations).toEqual(['CREATE', 'DELETE']);
  });

  it('leaves trust to cert-manager, and takes a URL', () => {
    const [configuration] = of('/x', validatingWebhook(Widget, allows), {
      address: { url: 'https://dev.example:9443/' },
      injectCaFrom: 'operators/serving',
      labels: { app: 'op' },
    });
    expect(configuration?.metadata).toEqual({
      name: 'op-validating',
      labels: { app: 'op' },
      annotations: { 'cert-manager.io/inject-ca-from': 'operators/serving' },
    });
    expect(configuration?.webhooks?.[0]?.clientConfig).toEqual({ url: 'https://dev.example:9443/x' });
  });

  it.each([
    [Pod, 'vpod-v1.core.k8s.io'],
    [Deployment, 'vdeployment-v1.apps.k8s.io'],
    [Widget, 'vwidget-v1.ex.io'],
  ])('names the webhook of a kind', (kind, name) => {
    expect(webhookOf(validatingWebhook(kind, allows, { registration: { failurePolicy: 'Ignore' } }))?.name).toBe(name);
  });
});

describe('blast radius', () => {
  const validating = (kind: typeof Pod | typeof Node, registration: WebhookRegistration) => () =>
    webhookOf(validatingWebhook(kind as typeof Pod, allows, { registration }));
  const own = { matchLabels: { 'kubernetes.io/metadata.name': 'operators' } };
  const others = { matchLabels: { env: 'prod' } };
  const outside = {
    matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn' as const, values: ['operators'] }],
  };

  it.each<[string, () => unknown, string | undefined]>([
    [
      'a core kind without a selector',
      () => webhookOf(validatingWebhook(Pod, allows)),
      'failurePolicy Fail on Pod without a selector',
    ],
    [
      'a core kind of the cluster',
      validating(Node, { timeoutSeconds: 5 }),
      'failurePolicy Fail on Node without a selector',
    ],
    [
      'a core kind of the cluster with a selector of namespaces, which it has none of',
      validating(Node, { namespaceSelector: outside }),
      'failurePolicy Fail on Node without a selector',
    ],
    ['namespaces, selected', validating(Namespace, { namespaceSelector: outside }), undefined],
    [
      'the own namespace itself',
      validating(Namespace, { namespaceSelector: own }),
      "catches the operator's own namespace",
    ],
    ['an empty selector', validating(Pod, { namespaceSelector: {} }), 'without a selector'],
    ['a core kind, confirmed', validating(Pod, { confirm: ['core-kinds'] }), undefined],
    ['a core kind that fails open', validating(Pod, { failurePolicy: 'Ignore' }), undefined],
    [
      'a core kind with an object selector',
      validating(Pod, { objectSelector: { matchLabels: { a: 'b' } } }),
      undefined,
    ],
    [
      'a core kind with a condition',
      validating(Pod, { matchConditions: [{ name: 'a', expression: 'true' }] }),
      undefined,
    ],
    ['the own namespace', validating(Pod, { namespaceSelector: own }), "catches the operator's own namespace"],
    [
      'namespaces by other labels, which the own one may have',
      validating(Pod, { namespaceSelector: others }),
      "catches the operator's own namespace",
    ],
    [
      'the own namespace, confirmed',
      validating(Pod, { namespaceSelector: own, confirm: ['own-namespace'] }),
      undefined,
    ],
    ['every other namespace', validating(Pod, { namespaceSelector: outside }), undefined],
    ['a custom kind', () => webhookOf(validatingWebhook(Widget, allows)), undefined],
    [
      'a timeout of 31 s',
      () => validatingWebhook(Widget, allows, { registration: { timeoutSeconds: 31 } }),
      'timeoutSeconds 31 is not valid',
    ],
    ...(
      [
        [{ failurePolicy: 'ignore' }, 'failurePolicy "ignore" is not valid: expected Fail or Ignore'],
        [{ matchPolicy: 'Any' }, 'matchPolicy "Any" is not valid: expected Exact or Equivalent'],
        [{ sideEffects: 'Some' }, 'sideEffects "Some" is not valid: expected None or NoneOnDryRun'],
        [{ operations: ['CREATE', 'GET'] }, 'operations "GET" is not valid: expected CREATE or UPDATE'],
        [{ operations: 'CREATE' }, 'operations "CREATE" is not valid: expected a list'],
        [{ subResources: 'status' }, 'subResources "status" is not valid: expected a list'],
        [{ subResources: [''] }, 'subResources: "" is not valid'],
        [{ subResources: ['apps/status'] }, 'subResources: "apps/status" is not valid'],
        [{ matchConditions: 'x' }, 'matchConditions "x" is not valid: expected a list'],
        [{ confirm: 'core-kinds' }, 'confirm "core-kinds" is not valid: expected a list'],
        [{ confirm: ['everything'] }, 'confirm "everything" is not valid'],
      ] as unknown as readonly (readonly [WebhookRegistration, string])[]
    ).map(([registration, problem]): [string, () => unknown, string] => [
      `a value that a field does not have: ${problem}`,
      () => validatingWebhook(Widget, allows, { registration }),
      problem,
    ]),
    [
      'a name of two parts',
      () => validatingWebhook(Widget, allows, { registration: { name: 'a.b' } }),
      'name "a.b" is not valid',
    ],
    ['a validator without members', () => webhookOf(validatingWebhook(Widget, {})), 'there is no operation'],
    [
      'reinvocation of a validator',
      () => validatingWebhook(Widget, allows, { registration: { reinvocationPolicy: 'Never' } }),
      'reinvocationPolicy is for mutating webhooks',
    ],
  ])('%s', (_what, define, problem) => {
    if (problem === undefined) expect(define).not.toThrow();
    else expect(define).toThrow(problem);
  });

  it('leaves the own namespace alone by default, so that an operator that is down can come back', () => {
    const selector = webhookOf(validatingWebhook(Widget, allows))?.namespaceSelector;
    const matches = (name: string) =>
      labelSelectorFrom(selector ?? {}).matches({ 'kubernetes.io/metadata.name': name });
    expect([matches('operators'), matches('default')]).toEqual([false, true]);
    const ofNamespaces = webhookOf(
      validatingWebhook(Namespace, allows, { registration: { confirm: ['core-kinds'] } }),
    )?.namespaceSelector;
    expect(labelSelectorFrom(ofNamespaces ?? {}).matches({ 'kubernetes.io/metadata.name': 'operators' })).toBe(false);
    const ofNodes = webhookOf(validatingWebhook(Node, allows, { registration: { confirm: ['core-kinds'] } }));
    expect(ofNodes).not.toHaveProperty('namespaceSelector');
  });
});

const crd = (versions: readonly string[]): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.ex.io' },
  spec: {
    group: 'ex.io',
    names: { kind: 'Widget', plural: 'widgets' },
    scope: 'Namespaced',
    versions: versions.map((name, index) => ({
      name,
      served: true,
      storage: index === 0,
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })),
  },
});

describe('withConversion', () => {
  const WidgetV2 = defineKind({ group: 'ex.io', version: 'v2', kind: 'Widget', scope: 'Namespaced' });
  const converter = hubSpokeConverter(
    WidgetV2,
    spoke(WidgetV2, Widget, { toHub: () => ({}), fromHub: () => ({ spec: {} }) }),
  );

  it('adds the stanza and cert-manager to a copy', () => {
    const original = crd(['v1', 'v2']);
    const converted = withConversion(original, {
      address,
      converter,
      caBundle: 'PEM',
      injectCaFrom: 'operators/serving',
    });
    expect(original).toEqual(crd(['v1', 'v2']));
    expect(converted.metadata.annotations).toEqual({ 'cert-manager.io/inject-ca-from': 'operators/serving' });
    expect(converted.spec.conversion).toEqual({
      strategy: 'Webhook',
      webhook: {
        clientConfig: {
          service: { name: 'operator', namespace: 'operators', port: 443, path: '/convert' },
          caBundle: Buffer.from('PEM').toString('base64'),
        },
        conversionReviewVersions: ['v1'],
      },
    });
  });

  it('refuses a converter that leaves a version out, or is of another kind', () => {
    expect(() => withConversion(crd(['v1', 'v2', 'v3']), { address, converter })).toThrow(
      'does not convert version v3',
    );
    expect(() => withConversion(crd(['v1']), { address, converter: hubSpokeConverter(Pod) })).toThrow(
      'the converter is of Pod., not of Widget.ex.io',
    );
  });
});

describe('caBundle', () => {
  it('is refused if an API server would read it in part', () => {
    const server = createWebhookServer({ port: -1 });
    const caBundle = '-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE----------BEGIN CERTIFICATE-----\n';
    const options = { name: 'op', address: { url: 'https://a.example' }, caBundle };
    expect(() => webhookConfigurations(server.webhooks ?? [], options)).toThrow(
      'caBundle holds a certificate, number 1, that cannot be read',
    );
  });
});

describe('manifests', () => {
  const manifests = [
    ...of('/x', validatingWebhook(Widget, allows)),
    ...of(
      '/y',
      defaultingWebhook(Widget, () => undefined),
    ),
    withConversion(crd(['v1']), { address }),
  ];

  it('are printed as a YAML stream', () => {
    expect(parseAllDocuments(printManifests(manifests)).map((document) => document.toJS())).toEqual(manifests);
  });

  it('are applied to an API server, again without a change', async () => {
    await using environment = await createEnvironment({ server: 'embedded' });
    await using client = createHttpClient({ connection: environment.connection });
    await applyWebhookManifests(client, manifests, { fieldOwner: 'test' });
    const read = () =>
      Promise.all([
        client.get(ValidatingWebhookConfiguration, { name: 'op-validating' }),
        client.get(MutatingWebhookConfiguration, { name: 'op-mutating' }),
      ]);
    const first = await read();
    expect(first.map(({ webhooks }) => webhooks?.[0]?.name)).toEqual(['vwidget-v1.ex.io', 'mwidget-v1.ex.io']);
    await applyWebhookManifests(client, manifests, { fieldOwner: 'test' });
    expect((await read()).map(({ metadata }) => metadata.resourceVersion)).toEqual(
      first.map(({ metadata }) => metadata.resourceVersion),
    );
    await expect(
      applyWebhookManifests(client, [{ kind: 'Pod', metadata: { name: 'x' } }], { fieldOwner: 'test' }),
    ).rejects.toThrow('Pod is not a webhook configuration or CRD');
  });
});
