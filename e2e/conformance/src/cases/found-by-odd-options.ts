/** What the differential run with random options has found. */
import { APPLY_PATCH, MERGE_PATCH } from '../harness/context.js';
import { created, failure, names, ok, same, status } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import { configMaps, createConfigMap } from './paths.js';

const YAML = { contentType: 'application/yaml' };

spec(53, 'empty preconditions of a query are absent ones', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  for (const query of ['uid', 'uid=', 'uid=&uid=zz', 'resourceVersion=', 'resourceVersion', 'uid=&resourceVersion=']) {
    await createConfigMap(t, ns, 'a');
    ok(await t.delete(`${configMaps(ns, 'a')}?${query}`));
    await createConfigMap(t, ns, 'b');
    same(names(ok(await t.delete(`${configMaps(ns)}?fieldSelector=metadata.name%3Db&${query}`))), ['b'], query);
    created(await t.post(widgets.path(ns), widgets.draft('a')));
    ok(await t.delete(`${widgets.path(ns, 'a')}?${query}`));
  }
  await createConfigMap(t, ns, 'a');
  failure(await t.delete(`${configMaps(ns, 'a')}?uid=zz&uid=`), { code: 409, reason: 'Conflict' });
});

spec(53, 'of a key that is in DeleteOptions twice both values have to be of its type', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  for (const [body, message] of [
    [
      '{"gracePeriodSeconds":[""],"gracePeriodSeconds":60}',
      'json: cannot unmarshal array into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    ],
    [
      '{"kind":true,"kind":"ListOptions"}',
      "couldn't get version/kind; json parse error: json: cannot unmarshal bool into Go struct field .kind of type string",
    ],
    [
      '{"preconditions":{"uid":5},"preconditions":[]}',
      'json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type types.UID',
    ],
  ] as const)
    failure(await t.delete(configMaps(ns, 'a'), body), { code: 400, reason: 'BadRequest', message });
  failure(await t.delete(configMaps(ns, 'a'), 'preconditions: [""]\ndryRun: All', YAML), {
    code: 400,
    reason: 'BadRequest',
    message: 'json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string',
  });
  ok(await t.get(configMaps(ns, 'a')));
});

spec(56, 'a deletion that takes time answers 202 to orphanDependents=false', async (t) => {
  const ns = await t.namespace();
  const held = { metadata: { name: 'a', finalizers: ['kctl.test/f'] } };
  created(await t.post(configMaps(ns), held));
  t.defer(() => t.patch(configMaps(ns, 'a'), MERGE_PATCH, { metadata: { finalizers: null } }));
  status(await t.delete(configMaps(ns, 'a'), { orphanDependents: false }), 202);
  status(await t.delete(`${configMaps(ns, 'a')}?orphanDependents=false`), 202);
  const negative = ok(await t.delete(configMaps(ns, 'a'), { gracePeriodSeconds: -1 }));
  same(negative.metadata.deletionGracePeriodSeconds, 0, 'grace');
  await createConfigMap(t, ns, 'b');
  ok(await t.delete(configMaps(ns, 'b'), { orphanDependents: false }));
});

spec(20, 'terms of a field selector without a field match everything, or name no known field', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  await createConfigMap(t, ns, 'b');
  const widgets = await t.widgets();
  const list = async (fieldSelector: string) => t.get(configMaps(ns), { query: { fieldSelector } });
  for (const selector of ['=', '==', '!=', '=,='])
    same(names(ok(await list(`${selector},metadata.name!=kube-root-ca.crt`))), ['a', 'b'], selector);
  same(names(ok(await list('metadata.name=a,='))), ['a'], 'with a name');
  const bad = (message: string) => ({ code: 400, reason: 'BadRequest', message });
  for (const fieldSelector of ['=a', '!=a', 'metadata.name=a,=a']) {
    failure(
      await list(fieldSelector),
      bad('"" is not a known field selector: only "metadata.name", "metadata.namespace"'),
    );
    failure(await t.get(widgets.path(ns), { query: { fieldSelector } }), bad('field label not supported: '));
  }
  failure(await list('metadata.name=a\\'), bad('invalid field selector: invalid escape sequence: \\'));
  failure(await list('=\\x'), bad('invalid field selector: invalid escape sequence: \\x'));
  same(names(ok(await list('metadata.name=a\\,b'))), [], 'an escaped comma');
});

spec(16, 'a continue token is read before it is compared with other options', async (t) => {
  const ns = await t.namespace();
  const message = 'invalid continue token: continue key is not valid: server does not recognize this encoded version ';
  for (const query of [{ continue: 'e30' }, { continue: 'e30', resourceVersion: 'x' }])
    failure(await t.get(configMaps(ns), { query }), { code: 400, reason: 'BadRequest', message });
});

spec(25, 'a watch from no revision tells the end of its initial events by a bookmark', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  const fieldSelector = 'metadata.name=a';
  for (const query of [{}, { resourceVersion: '0' }]) {
    const watch = await t.watch(configMaps(ns), { query: { allowWatchBookmarks: true, fieldSelector, ...query } });
    const events = await watch.take(2);
    same(
      events.map(({ type, object }) => [type, object.metadata.annotations]),
      [
        ['ADDED', undefined],
        ['BOOKMARK', { 'k8s.io/initial-events-end': 'true' }],
      ],
      'events',
    );
    watch.close();
  }
});

spec(10, 'a body in YAML that cannot be read: the error names the kind and quotes the body', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const of = (kind: string, why: string) => ({
    code: 400,
    reason: 'BadRequest',
    message: `the object provided is unrecognized (must be of type ${kind}): ${why}`,
  });
  for (const [body, problem, quoted] of [
    ['"a', 'yaml: found unexpected end of stream', '2261'],
    ['a: *x', "yaml: unknown anchor 'x' referenced", '613a202a78'],
    ['a:\n\t- b', 'yaml: line 2: found character that cannot start any token', '613a0a092d2062'],
    ['a: !!int x', 'yaml: cannot decode !!str `x` as a !!int', '613a202121696e742078'],
  ] as const) {
    failure(await t.post(configMaps(ns), body, YAML), of('ConfigMap', `${problem} (${quoted})`));
    failure(await t.put(configMaps(ns, 'a'), body, YAML), of('ConfigMap', `${problem} (${quoted})`));
    failure(await t.post(widgets.path(ns), body, YAML), of('Widget', `${problem} (${quoted})`));
    failure(await t.delete(configMaps(ns, 'a'), body, YAML), { code: 400, reason: 'BadRequest', message: problem });
    failure(await t.patch(configMaps(ns, 'a'), APPLY_PATCH, body, { query: { fieldManager: 'm' } }), {
      code: 400,
      reason: 'BadRequest',
      message: `error decoding YAML: error converting YAML to JSON: ${problem}`,
    });
  }
});

spec(51, 'unknown fields of a Scale that is read strictly are refused by its own kind', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  created(await t.post(widgets.path(ns), widgets.draft('a')));
  const controllers = `/api/v1/namespaces/${ns}/replicationcontrollers`;
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  created(await t.post(controllers, { metadata: { name: 'a' }, spec: { selector: { a: 'b' }, template } }));
  const scale = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'a', namespace: ns },
    spec: { replicas: 1, bogus: 1 },
  };
  const query = { fieldValidation: 'Strict' };
  const refused = (message: string) => ({ code: 400, reason: 'BadRequest', message });
  failure(
    await t.put(`${controllers}/a/scale`, scale, { query }),
    refused('Scale in version "v1" cannot be handled as a Scale: strict decoding error: unknown field "spec.bogus"'),
  );
  failure(
    await t.put(`${widgets.path(ns, 'a')}/scale`, scale, { query }),
    refused('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"'),
  );
});

spec(49, 'a configuration in the flow style of YAML is applied', async (t) => {
  const ns = await t.namespace();
  const body = '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: "v"}}';
  const query = { fieldManager: 'm' };
  const { data } = created(await t.patch(configMaps(ns, 'a'), APPLY_PATCH, body, { query }));
  same(data, { k: 'v' }, 'data');
});
