import { describe, expect, it } from 'vitest';
import { configMap, configMaps, harness, widget, widgetCrd, widgets, type Harness } from './harness.js';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A server with Widgets whose spec has one property `p` of a schema, and anything else. */
async function serving(schema: object, version: object = {}): Promise<Harness> {
  const server = await harness();
  const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { p: schema } };
  const [first] = widgetCrd.spec.versions;
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  const versions = [
    { ...first, selectableFields: undefined, subresources: undefined, schema: { openAPIV3Schema }, ...version },
  ];
  const created = await server.post(crds, { ...widgetCrd, spec: { ...widgetCrd.spec, versions } });
  expect(created.status).toBe(201);
  return server;
}

/** User CPU in ms that work takes. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return process.cpuUsage(before).user / 1000;
}

describe('patterns', () => {
  it.each(['^(a+)+$', '^(a|a)*$', '(x+x+)+y', '^([a-z]+)*$'])('%s takes linear time', async (pattern) => {
    const { post } = await serving({ type: 'string', pattern });
    const answer = await post(widgets, widget('w', {}, { p: `${'ax'.repeat(50_000)}!` }));
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain('should match');
  });

  it('that would take long on a long text are not tried', async () => {
    const { post } = await serving({ type: 'string', pattern: '(?:a?){450}a{450}$' });
    const answer = await post(widgets, widget('w', {}, { p: 'a'.repeat(1_000_000) }));
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain('spec.p in body is too long to be matched');
    expect(answer.text.length).toBeLessThan(5_000);
  });

  it('of Go are accepted, those of other languages refused with the reason', async () => {
    const { post } = await harness();
    const define = (pattern: string) => {
      const openAPIV3Schema = { type: 'object', properties: { p: { type: 'string', pattern } } };
      const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
      return post(crds, { ...widgetCrd, spec: { ...widgetCrd.spec, versions } });
    };
    const refused = await define('^(?=a).*$');
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain('invalid or unsupported Perl syntax: `(?=`');
    expect((await define('(?i)^[a-z]+(?P<unit>[[:alpha:]])\\z')).status).toBe(201);
  });
});

describe('JSON patches', () => {
  it("that double the object with each copy end at 3 MiB, with upstream's message", async () => {
    const { post, jsonPatch, get } = await serving({ type: 'string' });
    await post(widgets, widget('w', {}, { x: { a: 'x'.repeat(1000) } }));
    const operations = Array.from({ length: 40 }, (_, index) => ({
      op: 'copy',
      from: '/spec/x',
      path: `/spec/x/b${index}`,
    }));
    const answer = await jsonPatch(`${widgets}/w`, operations);
    expect(answer.status).toBe(422);
    expect((await get(`${widgets}/w`)).text.length).toBeLessThan(2_000);
  });

  it.each([
    ['insert at the front of a long array', { op: 'add', path: '/spec/x/0', value: 1 }],
    ['compare a large value', { op: 'test', path: '/spec/x', value: Array.from({ length: 100 }, () => 0) }],
  ])('that %s 10,000 times are bounded', async (_what, operation) => {
    const { post, jsonPatch } = await serving({ type: 'string' });
    await post(widgets, widget('w', {}, { x: Array.from({ length: 300_000 }, () => 0) }));
    const answer = await jsonPatch(
      `${widgets}/w`,
      Array.from({ length: 10_000 }, () => operation),
    );
    expect([413, 422]).toContain(answer.status);
  });
});

describe('YAML', () => {
  const yaml = { 'content-type': 'application/yaml' };
  const letters = [...'bcdefghi'];
  const bomb = [
    'a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]',
    ...letters.map(
      (name, index) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${'abcdefgh'[index]}`).join(',')}]`,
    ),
  ].join('\n');

  it.each([
    ['an alias bomb', bomb, 'excessive aliasing'],
    ['an anchor that contains itself', 'a: &a\n  b: *a\n', 'value contains itself'],
    [
      'deep nesting',
      `a: ${'['.repeat(3_000)}${']'.repeat(3_000)}`,
      'the object provided is unrecognized (must be of type ConfigMap): yaml: ',
    ],
    ['a bad escape', 'a: "\\UFFFFFFFF"', 'the object provided is unrecognized (must be of type ConfigMap): yaml: '],
  ])('%s is the mistake of the client', async (_what, body, message) => {
    const { post, call } = await harness();
    const answer = await post(configMaps, body, yaml);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(message);
    const applied = await call('PATCH', `${configMaps}/x?fieldManager=f`, body, {
      'content-type': 'application/apply-patch+yaml',
    });
    expect(applied.status).toBe(400);
  });
});

describe('warnings', () => {
  it('are cut to 256 runes each, and to 4,096 in all, where they are longer together', async () => {
    const { post } = await harness();
    const fields = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, index) => [`unknown${index}${'x'.repeat(400)}`, 1]),
    );
    const answer = await post(`${configMaps}?fieldValidation=Warn`, { ...configMap('w'), ...fields });
    expect(answer.status).toBe(201);
    const warnings = (answer.headers.get('warning') ?? '').split(/, (?=299 - )/);
    expect(warnings).toHaveLength(16);
    for (const warning of warnings) expect(warning.length).toBeLessThan('299 - ""'.length + 256 + 4);
  });
});

describe('printer columns', () => {
  const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
  const column = (jsonPath: string) => ({ additionalPrinterColumns: [{ name: 'X', type: 'string', jsonPath }] });
  const cellsOf = async (server: Harness) => (await server.get(widgets, table)).body.rows[0].cells as unknown[];

  it('whose path multiplies what it visits are empty', async () => {
    const server = await serving({ type: 'string' }, column('.spec..*..*..*..*..*..*..*..*'));
    let nested: unknown = { leaf: 1 };
    for (let depth = 0; depth < 12; depth += 1) nested = { a: nested, b: nested };
    await server.post(widgets, widget('w', {}, { nested }));
    expect(await cellsOf(server)).toEqual(['w', null]);
  });

  it.each([
    '.metadata.annotations.ex\\.io/a',
    ".metadata.annotations['ex.io/a']",
    ".metadata.annotations['ex\\.io/a']",
  ])('read keys with dots by %s', async (jsonPath) => {
    const server = await serving({ type: 'string' }, column(jsonPath));
    await server.post(widgets, widget('w', { annotations: { 'ex.io/a': 'found' } }));
    expect(await cellsOf(server)).toEqual(['w', 'found']);
  });
});

describe('lists', () => {
  it('of 10 times the length cost about 10 times as much to check', async () => {
    const items = { type: 'object', required: ['k'], properties: { k: { type: 'integer' }, v: { type: 'integer' } } };
    const map = { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
    const server = await serving(map);
    const of = (length: number, v: number) => ({ p: Array.from({ length }, (_, k) => ({ k, v })) });
    const costOf = async (name: string, length: number): Promise<number> => {
      await server.post(widgets, widget(name, {}, of(length, 1)));
      return cpuOf(() => server.merge(`${widgets}/${name}`, { spec: of(length, 2) }));
    };
    await costOf('warm', 2_000);
    const small = await costOf('small', 2_000);
    const large = await costOf('large', 20_000);
    expect(large).toBeLessThan(small * 40 + 200);
  });
});

describe('evaluation that costs much', () => {
  const items = (length: number) => Array.from({ length }, (_, index) => index);
  const list = { type: 'array', maxItems: 500, items: { type: 'integer' } };
  const quadratic = (bound: number) => `self.all(x, self.all(y, x + y >= ${bound}))`;

  /** Which of a request and a small one sent after it is answered first. */
  async function firstOf(server: Harness, hostile: Promise<{ readonly status: number }>) {
    const small = server.get('/api/v1/namespaces/default');
    const first = await Promise.race([hostile.then(() => 'hostile'), small.then(() => 'small')]);
    return [first, (await hostile).status];
  }

  it('of rules leaves room for other requests, and comes to the same verdict', async () => {
    const rules = [{ rule: quadratic(0), message: 'negative' }];
    const server = await serving({ ...list, 'x-kubernetes-validations': rules });
    const create = (name: string, p: unknown[]) => server.post(widgets, widget(name, {}, { p }));
    expect(await firstOf(server, create('a', items(300)))).toEqual(['small', 201]);
    const refused = await create('b', [...items(300), -1000]);
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining('negative')]);
    expect(await firstOf(server, server.merge(`${widgets}/a`, { spec: { p: items(301) } }))).toEqual(['small', 200]);
    const over = await create('c', items(500));
    expect(over.body.message).toContain('call cost exceeds limit for rule');
  });

  it('of policies does, too, also where they ask the authorizer', async () => {
    const server = await serving(list);
    const base = '/apis/admissionregistration.k8s.io/v1';
    const rule = { apiGroups: ['ex.io'], apiVersions: ['*'], operations: ['CREATE'], resources: ['widgets'] };
    const may = "authorizer.group('').resource('pods').check('get').allowed()";
    await server.post(`${base}/validatingadmissionpolicies`, {
      metadata: { name: 'p' },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        variables: [{ name: 'list', expression: 'object.spec.p' }],
        validations: [
          {
            expression: `variables.list.all(x, variables.list.all(y, x + y >= 0)) && ${may}`,
            messageExpression: "'negative: ' + string(variables.list.size())",
          },
        ],
      },
    });
    await server.post(`${base}/validatingadmissionpolicybindings`, {
      metadata: { name: 'p' },
      spec: { policyName: 'p', validationActions: ['Deny'] },
    });
    const create = (name: string, p: unknown[]) => server.post(widgets, widget(name, {}, { p }));
    expect(await firstOf(server, create('a', items(200)))).toEqual(['small', 201]);
    const refused = await create('b', [...items(200), -1000]);
    expect(refused.body.message).toContain("with binding 'p' denied request: negative: 201");
  });

  it('of mutating policies does, too: conditions and mutations', async () => {
    const server = await serving(list);
    const base = '/apis/admissionregistration.k8s.io/v1';
    const rule = { apiGroups: ['ex.io'], apiVersions: ['*'], operations: ['CREATE'], resources: ['widgets'] };
    const may = "authorizer.group('').resource('pods').check('get').allowed()";
    const all = 'variables.list.all(x, variables.list.all(y, x + y >= 0))';
    const label = (value: string) => `Object{metadata: Object.metadata{labels: {"${value}": "set"}}}`;
    const defined = await server.post(`${base}/mutatingadmissionpolicies`, {
      metadata: { name: 'p' },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        reinvocationPolicy: 'Never',
        variables: [{ name: 'list', expression: 'object.spec.p' }],
        matchConditions: [{ name: 'c', expression: `${all.replaceAll('variables.list', 'object.spec.p')} || true` }],
        mutations: [
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: { expression: `${all} && ${may} ? ${label('a')} : ${label('b')}` },
          },
          {
            patchType: 'JSONPatch',
            jsonPatch: { expression: `[JSONPatch{op: "add", path: "/metadata/labels/c", value: string(${all})}]` },
          },
        ],
      },
    });
    expect([defined.status, defined.body.message]).toEqual([201, undefined]);
    await server.post(`${base}/mutatingadmissionpolicybindings`, {
      metadata: { name: 'p' },
      spec: { policyName: 'p' },
    });
    const create = (name: string, p: unknown[]) => server.post(widgets, widget(name, {}, { p }));
    expect(await firstOf(server, create('a', items(200)))).toEqual(['small', 201]);
    expect((await server.get(`${widgets}/a`)).body.metadata.labels).toEqual({ a: 'set', c: 'true' });
    expect((await create('b', [...items(200), -1000])).body.metadata.labels).toEqual({ b: 'set', c: 'false' });
    const over = await create('c', items(490));
    expect([over.status, over.body.message]).toEqual([403, expect.stringContaining('cost')]);
  });

  it('of a long YAML document does, too', async () => {
    const server = await harness();
    const text = `metadata: {name: doc}\ndata:\n${items(2000)
      .map((index) => `  k${index}: "${index}"\n`)
      .join('')}`;
    const hostile = server.post(configMaps, text, { 'content-type': 'application/yaml' });
    expect(await firstOf(server, hostile)).toEqual(['small', 201]);
    expect(Object.keys((await server.get(`${configMaps}/doc`)).body.data)).toHaveLength(2000);
  });
});

describe('long JSON', () => {
  const data = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, index) => [`key${index}`, 'value of some length']));

  /** How often others have their turn while a request is answered: its body is there from the start. */
  async function turnsOf(server: Harness, method: string, target: string, body: unknown): Promise<number> {
    const headers = {
      'content-type': method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json',
    };
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    let status = 0;
    const receiver = {
      start: (code: number) => void (status = code),
      data: () => {},
      end: () => {},
      destroy: () => {},
    };
    const request = { method, target, headers, body: Buffer.from(JSON.stringify(body)) };
    await server.server.answer({ ...request, signal: new AbortController().signal }, receiver);
    isDone = true;
    expect(status).toBeLessThan(300);
    return turns;
  }

  it.each([
    ['POST', configMaps],
    ['PUT', `${configMaps}/long`],
    ['PATCH', `${configMaps}/long?fieldManager=test&force=true`],
  ])('lets others have their turn between the steps of a %s', async (method, target) => {
    const server = await harness();
    if (method === 'PUT') await server.post(configMaps, configMap('long'));
    const object = (length: number) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'long', namespace: 'default' },
      data: data(length),
    });
    expect(await turnsOf(server, method, target, object(5_000))).toBeGreaterThanOrEqual(2);
  });

  it('into a namespace that goes meanwhile creates nothing', async () => {
    const server = await harness();
    await server.post('/api/v1/namespaces', { metadata: { name: 'going' } });
    const path = '/api/v1/namespaces/going/configmaps';
    const [long] = await Promise.all([
      server.post(path, { metadata: { name: 'long' }, data: data(5_000) }),
      server.delete('/api/v1/namespaces/going'),
    ]);
    expect([403, 404]).toContain(long.status);
  });
});

it('a request in process whose target is longer than Go reads is refused as Go refuses it', async () => {
  const { get } = await harness();
  const { status, text } = await get(`${configMaps}?labelSelector=${'a'.repeat(1024 * 1024)}`);
  expect([status, text]).toEqual([431, '431 Request Header Fields Too Large']);
});

it('a role that stands for a billion combinations is refused to who may not escalate, at once', async () => {
  const h = await harness({ authorization: 'RBAC' });
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  const names = (prefix: string): string[] => Array.from({ length: 1_000 }, (_, index) => `${prefix}${index}`);
  const role = (name: string, count: number): object => ({
    metadata: { name },
    rules: [
      {
        apiGroups: names('g').slice(0, count),
        resources: names('r').slice(0, count),
        verbs: names('v').slice(0, count),
      },
    ],
  });
  await h.post(roles, {
    metadata: { name: 'author' },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['create'] }],
  });
  await h.post(roles.replace('roles', 'rolebindings'), {
    metadata: { name: 'author' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'author' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
  });
  const ann = { 'impersonate-user': 'ann' };
  const refused = await h.post(roles, role('many', 1_000), ann);
  expect(refused.status).toBe(413);
  expect(refused.body.message).toContain('1000000000 combinations');
  expect((await h.post(roles, role('few', 3), ann)).status).toBe(403);
  expect((await h.post(roles, role('many', 1_000))).status).toBe(201);
});
