import { defineKind, isNoKindMatch } from '@kctl/apimachinery';
import { FakeClock } from '@kctl/wait/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RecordingLogger } from './support/recording-logger.js';
import { createRestMapper, createTransport, isGroupDiscoveryError } from '../src/index.js';
import type { RestMapper, Transport } from '../src/index.js';
import { failure, json, startServer } from './support/server.js';
import type { SeenRequest, TestServer } from './support/server.js';

let server: TestServer;
let transport: Transport;
let clock: FakeClock;
let mapper: RestMapper;
let hasWidgets: boolean;

const aggregated = (request: SeenRequest): object => {
  const list = (items: object[]): object => ({
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    items,
  });
  const resource = (name: string, kind: string, more: object = {}): object => ({
    resource: name,
    responseKind: { group: '', version: '', kind },
    scope: 'Namespaced',
    singularResource: kind.toLowerCase(),
    verbs: ['get', 'list'],
    ...more,
  });
  if (request.url.pathname === '/api')
    return list([
      {
        versions: [
          {
            version: 'v1',
            resources: [
              resource('pods', 'Pod', { shortNames: ['po'], subresources: [{ subresource: 'status' }] }),
              resource('nodes', 'Node', { scope: 'Cluster' }),
            ],
          },
        ],
      },
    ]);
  return list([
    {
      metadata: { name: 'apps' },
      versions: [
        {
          version: 'v1',
          resources: [resource('deployments', 'Deployment', { shortNames: ['deploy'], categories: ['all'] })],
        },
      ],
    },
    ...(hasWidgets
      ? [
          {
            metadata: { name: 'example.com' },
            versions: [
              { version: 'v2', freshness: 'Stale', resources: [resource('widgets', 'Widget')] },
              {
                version: 'v1',
                resources: [resource('widgets', 'Widget', { scope: 'Cluster', shortNames: ['deploy'] })],
              },
            ],
          },
        ]
      : []),
  ]);
};

const legacy = (request: SeenRequest): object => {
  switch (request.url.pathname) {
    case '/api':
      return { kind: 'APIVersions', versions: ['v1'] };
    case '/apis':
      return {
        kind: 'APIGroupList',
        groups: [
          {
            name: 'example.com',
            versions: [{ version: 'v1beta1' }, { version: 'v1' }],
            preferredVersion: { version: 'v1' },
          },
        ],
      };
    case '/apis/example.com/v1':
      return {
        kind: 'APIResourceList',
        resources: [
          { name: 'widgets', kind: 'Widget', namespaced: true, singularName: 'widget', verbs: ['get'] },
          { name: 'widgets/status', kind: 'Widget', namespaced: true },
        ],
      };
    default:
      return { kind: 'APIResourceList', resources: [] };
  }
};

beforeEach(async () => {
  hasWidgets = true;
  server = await startServer((request, response) => json(response, aggregated(request)));
  transport = createTransport({ server: server.url });
  clock = new FakeClock();
  mapper = createRestMapper({
    transport,
    clock,
    kinds: [defineKind({ group: 'batch', version: 'v1', kind: 'Job', scope: 'Namespaced' })],
  });
});
afterEach(async () => {
  await transport[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

describe('RestMapper', () => {
  it('needs no request for a kind that it was given', async () => {
    expect(await mapper.kindFor({ group: 'batch', version: 'v1', kind: 'Job' })).toMatchObject({ plural: 'jobs' });
    expect(await mapper.kindFor({ group: 'batch', kind: 'Job' })).toMatchObject({ version: 'v1' });
    const anyVersion = { group: 'batch', version: undefined as never, kind: 'Job' };
    expect(await mapper.kindFor(anyVersion)).toMatchObject({ version: 'v1' });
    expect(server.requests).toHaveLength(0);
  });

  it('learns everything from two requests, once for all who ask at the same time', async () => {
    const kinds = await Promise.all([
      mapper.kindFor({ group: '', version: 'v1', kind: 'Node' }),
      mapper.kindFor({ group: 'apps', kind: 'Deployment' }),
      mapper.kindFor({ group: 'example.com', version: 'v2', kind: 'Widget' }),
    ]);
    expect(kinds.map(({ apiVersion, plural, scope }) => [apiVersion, plural, scope])).toEqual([
      ['v1', 'nodes', 'Cluster'],
      ['apps/v1', 'deployments', 'Namespaced'],
      ['example.com/v2', 'widgets', 'Namespaced'],
    ]);
    expect(server.requests).toHaveLength(2);
  });

  it('passes over a version that may be out of date', async () => {
    expect(await mapper.kindFor({ group: 'example.com', kind: 'Widget' })).toMatchObject({
      version: 'v1',
      scope: 'Cluster',
    });
  });

  it('asks again on a miss, but not for a kind that the server just did not know', async () => {
    hasWidgets = false;
    const widget = { group: 'example.com', version: 'v1', kind: 'Widget' };
    await mapper.kindFor({ group: '', version: 'v1', kind: 'Pod' });
    const error = await mapper.kindFor(widget).catch((reason: unknown) => reason);
    expect(isNoKindMatch(error)).toBe(true);
    expect(String(error)).toContain('has no kind Widget in example.com/v1: is its CustomResourceDefinition installed?');
    expect(server.requests).toHaveLength(4);
    await expect(mapper.kindFor(widget)).rejects.toThrow();
    expect(server.requests).toHaveLength(4);
    hasWidgets = true;
    await clock.advance(5_001);
    expect(await mapper.kindFor(widget)).toMatchObject({ plural: 'widgets' });
    expect(server.requests).toHaveLength(6);
  });

  it('does not take the answer to an older question for that of a kind that was just installed', async () => {
    const answers: (() => void)[] = [];
    const whenAsked = async (count: number): Promise<void> => {
      while (answers.length < count) await new Promise((resolve) => setImmediate(resolve));
    };
    server.handler = (request, response) => {
      const answer = aggregated(request);
      answers.push(() => json(response, answer));
    };
    hasWidgets = false;
    const older = mapper.kindFor({ group: 'apps', kind: 'Deployment' });
    await whenAsked(2);
    hasWidgets = true;
    mapper.invalidate();
    const found = mapper.kindFor({ group: 'example.com', kind: 'Widget' });
    await whenAsked(4);
    for (const answer of answers) answer();
    expect(await found).toMatchObject({ kind: 'Widget' });
    expect(await older).toMatchObject({ kind: 'Deployment' });
  });

  it('asks again where the question that it joined was older than its own', async () => {
    const answers: (() => void)[] = [];
    server.handler = (request, response) => {
      const answer = aggregated(request);
      if (hasWidgets) json(response, answer);
      else answers.push(() => json(response, answer));
    };
    hasWidgets = false;
    const older = mapper.kindFor({ group: 'apps', kind: 'Deployment' });
    while (answers.length < 2) await new Promise((resolve) => setImmediate(resolve));
    hasWidgets = true;
    const found = mapper.kindFor({ group: 'example.com', kind: 'Widget' });
    for (const answer of answers) answer();
    expect(await found).toMatchObject({ kind: 'Widget' });
    await older;
  });

  it('understands what people type', async () => {
    const names = [
      'pods',
      'pod',
      'po',
      'Deployment',
      'deployments.apps',
      'deploy',
      'deployments.v1.apps',
      'widgets.v2.example.com',
      'widget.example',
    ];
    const kinds = await Promise.all(names.map(async (name) => (await mapper.kindForResource(name)).kind));
    expect(kinds).toEqual([
      'Pod',
      'Pod',
      'Pod',
      'Deployment',
      'Deployment',
      'Deployment',
      'Deployment',
      'Widget',
      'Widget',
    ]);
    expect(isNoKindMatch(await mapper.kindForResource('gadgets').catch((reason: unknown) => reason))).toBe(true);
  });

  it('knows a group that begins as a version does', async () => {
    const tunnels = { resource: 'tunnels', responseKind: { kind: 'Tunnel' }, scope: 'Namespaced', verbs: ['get'] };
    const groups = ['v2ray.io', 'v1.example.com'].map((name) => ({
      metadata: { name },
      versions: [{ version: 'v1', resources: [tunnels] }],
    }));
    server.handler = (request, response) => {
      const isOfGroups = request.url.pathname === '/apis';
      json(response, { kind: 'APIGroupDiscoveryList', items: isOfGroups ? groups : [] });
    };
    const groupOf = async (name: string): Promise<string> => (await mapper.kindForResource(name)).group;
    expect(await groupOf('tunnels.v2ray.io')).toBe('v2ray.io');
    expect(await groupOf('tunnels.v1.v2ray.io')).toBe('v2ray.io');
    expect(await groupOf('tunnels.v1.example.com')).toBe('v1.example.com');
    await expect(mapper.kindForResource('tunnels.v1.example.org')).rejects.toSatisfy(isNoKindMatch);
  });

  it('hands out preferred resources, categories and groups', async () => {
    hasWidgets = true;
    const shown = (list: readonly { plural: string; version: string }[]) =>
      list.map(({ plural, version }) => `${plural}.${version}`);
    const preferred = shown(await mapper.preferredResources());
    expect(preferred).toHaveLength(4);
    expect(preferred).toEqual(expect.arrayContaining(['pods.v1', 'nodes.v1', 'deployments.v1', 'widgets.v1']));
    expect(shown(await mapper.kindsOfCategory('all'))).toEqual(['deployments.v1']);
    expect(await mapper.kindsOfCategory('none')).toEqual([]);
    const stale = (await mapper.groups()).flatMap(({ name, versions }) =>
      versions.filter(({ isStale }) => isStale).map(({ version }) => `${name}/${version}`),
    );
    expect(stale).toEqual(['example.com/v2']);
    expect(server.requests).toHaveLength(2);
  });

  it('warns once of a short name that several groups have', async () => {
    hasWidgets = true;
    const logger = new RecordingLogger();
    const warned = createRestMapper({ transport, logger, clock });
    for (let time = 0; time < 2; time++) expect((await warned.kindForResource('deploy')).kind).toBe('Deployment');
    await warned.kindForResource('po');
    await warned.kindForResource('deploy.apps');
    expect(logger.lines.map(({ level, message, fields }) => ({ level, message, fields }))).toEqual([
      {
        level: 'warn',
        message: 'short name could also match lower priority resources',
        fields: { shortName: 'deploy', resource: 'deployments.apps', others: ['widgets.example.com'] },
      },
    ]);
  });

  it('asks an old server for each version that it needs, and no other', async () => {
    server.handler = (request, response) => json(response, legacy(request));
    expect(await mapper.kindFor({ group: 'example.com', kind: 'Widget' })).toMatchObject({
      version: 'v1',
      scope: 'Namespaced',
    });
    await mapper.kindFor({ group: 'example.com', version: 'v1', kind: 'Widget' });
    expect(server.requests.map(({ url }) => url.pathname).sort()).toEqual(['/api', '/apis', '/apis/example.com/v1']);
    const [widget] = await mapper.resources();
    expect(widget).toMatchObject({ plural: 'widgets', subresources: ['status'] });
  });

  it('says so when discovery fails, and tries again the next time', async () => {
    server.handler = (_request, response) =>
      failure(response, 403, { reason: 'Forbidden', message: 'no discovery for you' });
    await expect(mapper.kindFor({ group: 'apps', kind: 'Deployment' })).rejects.toThrow('no discovery for you');
    server.handler = (request, response) => json(response, aggregated(request));
    await expect(mapper.kindFor({ group: 'apps', kind: 'Deployment' })).resolves.toBeDefined();
  });

  describe('with a group that does not answer', () => {
    const refuse = 'the server is currently unable to handle the request';
    const isMetrics = ({ url }: SeenRequest): boolean => url.pathname.startsWith('/apis/metrics.k8s.io');
    /** Servers with and without aggregated discovery: both have the broken group first. */
    const servers: [string, (request: SeenRequest) => object][] = [
      [
        'an old server',
        (request) => {
          const answer = legacy(request) as { groups?: object[] };
          if (answer.groups !== undefined)
            answer.groups.unshift({ name: 'metrics.k8s.io', versions: [{ version: 'v1beta1' }] });
          return answer;
        },
      ],
      [
        'aggregated discovery',
        (request) => {
          const answer = aggregated(request) as { items: { metadata?: object; versions: object[] }[] };
          if (request.url.pathname === '/apis')
            answer.items.unshift({
              metadata: { name: 'metrics.k8s.io' },
              versions: [{ version: 'v1beta1', freshness: 'Stale' }],
            });
          return answer;
        },
      ],
    ];

    it.each(servers)('finds everything else: %s', async (_name, answer) => {
      const logger = new RecordingLogger();
      mapper = createRestMapper({ transport, clock, logger });
      server.handler = (request, response) => {
        if (isMetrics(request)) failure(response, 503, { reason: 'ServiceUnavailable', message: refuse });
        else json(response, answer(request));
      };
      expect(await mapper.kindForResource('widgets')).toMatchObject({ kind: 'Widget' });
      expect(await mapper.kindFor({ group: 'example.com', kind: 'Widget' })).toMatchObject({ plural: 'widgets' });
      expect((await mapper.resources()).map(({ plural }) => plural)).toContain('widgets');
      expect(logger.lines.map(({ message, fields }) => [message, fields?.['groupVersion']])).toEqual([
        ['cannot discover what an API group serves', 'metrics.k8s.io/v1beta1'],
      ]);
      const asked = server.requests.filter(isMetrics).length;
      expect(asked).toBe(1);
    });

    it.each(servers)(
      'names it where the kind may be in it, and finds the kind once it answers: %s',
      async (_name, answer) => {
        let isUp = false;
        server.handler = (request, response) => {
          if (!isMetrics(request)) json(response, answer(request));
          else if (!isUp) failure(response, 503, { reason: 'ServiceUnavailable', message: refuse });
          else
            json(response, {
              kind: 'APIResourceList',
              resources: [{ name: 'pods', kind: 'PodMetrics', namespaced: true, shortNames: ['pm'] }],
            });
        };
        for (const lookUp of [
          () => mapper.kindFor({ group: 'metrics.k8s.io', kind: 'PodMetrics' }),
          () => mapper.kindForResource('pm'),
        ]) {
          const error: unknown = await lookUp().catch((reason: unknown) => reason);
          expect(isNoKindMatch(error)).toBe(false);
          expect(isGroupDiscoveryError(error) && error.unavailable.map(({ groupVersion }) => groupVersion)).toEqual([
            'metrics.k8s.io/v1beta1',
          ]);
          expect(String(error)).toContain(`metrics.k8s.io/v1beta1 (${refuse})`);
        }
        // A kind of a group that answers is not served: that group decides, not the broken one.
        expect(
          isNoKindMatch(
            await mapper.kindFor({ group: 'example.com', kind: 'Gadget' }).catch((reason: unknown) => reason),
          ),
        ).toBe(true);
        isUp = true;
        await clock.advance(5_001);
        expect(await mapper.kindForResource('pm')).toMatchObject({ kind: 'PodMetrics' });
        expect(await mapper.kindFor({ group: 'metrics.k8s.io', kind: 'PodMetrics' })).toMatchObject({ plural: 'pods' });
      },
    );

    it('asks it again after invalidate, also where a request from before fails only then', async () => {
      const [, answer = aggregated] = servers[0] ?? [];
      const begun = Promise.withResolvers<() => void>();
      server.handler = (request, response) => {
        if (!isMetrics(request)) json(response, answer(request));
        else begun.resolve(() => failure(response, 503, { reason: 'ServiceUnavailable', message: refuse }));
      };
      const early = mapper.kindFor({ group: 'metrics.k8s.io', kind: 'PodMetrics' }).catch((reason: unknown) => reason);
      const fail = await begun.promise;
      mapper.invalidate();
      fail();
      expect(isGroupDiscoveryError(await early)).toBe(true);
      server.handler = (request, response) => {
        if (!isMetrics(request)) json(response, answer(request));
        else
          json(response, {
            kind: 'APIResourceList',
            resources: [{ name: 'pods', kind: 'PodMetrics', namespaced: true }],
          });
      };
      expect(await mapper.kindFor({ group: 'metrics.k8s.io', kind: 'PodMetrics' })).toMatchObject({ plural: 'pods' });
    });

    it('finds core kinds while the named groups are not to be had, and the reverse', async () => {
      for (const [broken, kind] of [
        ['/apis', { group: '', kind: 'Pod' }],
        ['/api', { group: 'apps', kind: 'Deployment' }],
      ] as const) {
        mapper.invalidate();
        server.handler = (request, response) => {
          if (request.url.pathname === broken) failure(response, 500, { message: 'broken' });
          else json(response, aggregated(request));
        };
        expect(await mapper.kindFor(kind)).toMatchObject({ kind: kind.kind });
        const error: unknown = await mapper.kindForResource('gadgets').catch((reason: unknown) => reason);
        expect(String(error)).toContain(`${broken} (broken)`);
      }
    });
  });

  it('leaves the discovery running for the others when one of them gives up', async () => {
    const controller = new AbortController();
    const [first, second] = [
      mapper.kindFor({ group: 'apps', kind: 'Deployment' }),
      mapper.resources({ signal: controller.signal }),
    ];
    controller.abort(new Error('never mind'));
    await expect(second).rejects.toThrow('never mind');
    await expect(first).resolves.toMatchObject({ plural: 'deployments' });
    expect(server.requests).toHaveLength(2);
  });
});
