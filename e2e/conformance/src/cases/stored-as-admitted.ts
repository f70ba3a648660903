/**
 * What a webhook makes of a custom resource stays as it is, malformed or unknown, for the plugins that follow and in the
 * storage: reading drops it, so that the next write makes a revision.
 */
import { stage } from '../harness/admission-stage.js';
import { startConverter } from '../harness/converter.js';
import { APPLY_PATCH, MERGE_PATCH } from '../harness/context.js';
import type { Doc, Draft } from '../harness/doc.js';
import { created, ok } from '../harness/expect.js';
import { allow, mutate, rule, sorted, steady, transcript } from '../harness/hook.js';
import { spec } from '../harness/spec.js';
import { deploymentDraft } from './paths.js';

const needs = ['webhooks'] as const;

const set = (path: string, value: unknown) => ({ op: 'add', path, value });
const patches: Readonly<Record<string, object>> = {
  'labels a text': set('/metadata/labels', 'x'),
  'labels a number in it': set('/metadata/labels', { a: 1, b: 'x' }),
  'labels null': set('/metadata/labels', null),
  'labels none': set('/metadata/labels', {}),
  'annotations a list': set('/metadata/annotations', ['x']),
  'annotations null': set('/metadata/annotations', null),
  'owners none': set('/metadata/ownerReferences', []),
  'owners a text': set('/metadata/ownerReferences', 'x'),
  'owners null': set('/metadata/ownerReferences', null),
  'an unknown field': set('/metadata/bogus', 1),
  'an unknown field of the spec': set('/spec/bogus', { x: 1 }),
};

/** Which of the writes made a revision, and the generation after them. */
async function revisions(first: Doc, writes: readonly (() => Promise<Doc>)[]): Promise<string> {
  let before = first;
  const told: string[] = [];
  for (const write of writes) {
    const after = await write();
    told.push(after.metadata.resourceVersion === before.metadata.resourceVersion ? 'same' : 'new');
    before = after;
  }
  return `${told.join(' ')}, generation ${before.metadata['generation']}`;
}

spec(
  66,
  'what a webhook makes of the metadata of a custom resource is stored as it is, until the next write',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook } = await stage(t);
    const rules = [rule(widgets.group, 'widgets', { operations: ['UPDATE'] })];
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules })]);
    const seen = transcript({ NS: ns });
    for (const [index, [what, patch]] of Object.entries(patches).entries()) {
      const name = `w${index}`;
      hook.answer = () => allow();
      created(await t.post(widgets.path(ns), widgets.draft(name, {}, { finalizers: ['kctl.test/f'] })));
      ok(await t.delete(widgets.path(ns, name)));
      const first = ok(await t.get(widgets.path(ns, name)));
      const put = async (by: object | undefined) => {
        hook.answer = () => (by === undefined ? allow() : mutate([by]));
        const { metadata, ...rest } = first;
        const { resourceVersion: _, ...own } = metadata;
        const { resourceVersion } = ok(await t.get(widgets.path(ns, name))).metadata;
        return ok(await t.put(widgets.path(ns, name), { ...rest, metadata: { ...own, resourceVersion } }));
      };
      const writes = [() => put(patch), () => put(patch), () => put(undefined), () => put(undefined)];
      seen.say(`${what}: PUT ${await revisions(first, writes)}`);
      const before = await put(patch);
      seen.say(`  shown ${Object.keys(before.metadata).toSorted().join(' ')} ${sorted(before['spec'])}`);
      const remove = async () => ok(await t.delete(widgets.path(ns, name)));
      seen.say(`  DELETE ${await revisions(before, [remove, remove])}`);
      hook.answer = () => mutate([patch]);
      const gone = ok(await t.patch(widgets.path(ns, name), MERGE_PATCH, { metadata: { finalizers: null } }));
      const { labels, annotations } = gone.metadata;
      seen.say(`  gone as ${JSON.stringify({ labels, annotations, spec: gone['spec'].bogus })}`);
    }
    seen.is(`
      labels a text: PUT new new new same, generation 2
        shown creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generation managedFields name namespace resourceVersion uid {"color":"blue","replicas":1,"size":1}
        DELETE new same, generation 2
        gone as {"labels":"x"}
      labels a number in it: PUT new new new same, generation 2
        shown creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generation managedFields name namespace resourceVersion uid {"color":"blue","replicas":1,"size":1}
        DELETE new same, generation 2
        gone as {"labels":{"a":1,"b":"x"}}
      labels null: PUT new new new same, generation 2
        shown creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generation managedFields name namespace resourceVersion uid {"color":"blue","replicas":1,"size":1}
        DELETE new same, generation 2
        gone as {"labels":null}
      labels none: PUT new new new same, generation 2
        shown creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generation managedFields name namespace resourceVersion uid {"color":"blue","replicas":1,"size":1}
        DELETE new same, generation 2
        gone as {"labels":{}}
      annotations a list: PUT new new new same, generation 2
        shown creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generation managedFields name namespace resourceVersion uid {"color":"blue","replicas":1,"size":1}
        DELETE new same, generation 2
        gone as {"annotations":["x"]}
      annotations null: PUT new new new same, generation 2
        shown creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generation managedFields name namespace resourceVersion uid {"color":"blue","replicas":1,"size":1}
        DELETE new same, generation 2
        gone as {"annotations":null}
      owners none: PUT new new new same, generation 2
        shown creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generation managedFields name namespace resourceVersion uid {"color":"blue","replicas":1,"size":1}
        DELETE new same, generation 2
        gone as {}
      owners a text: PUT new new new same, generation 2
        shown creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generation managedFields name namespace resourceVersion uid {"color":"blue","replicas":1,"size":1}
        DELETE new same, generation 2
        gone as {}
      owners null: PUT new new new same, generation 2
        shown creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generation managedFields name namespace resourceVersion uid {"color":"blue","replicas":1,"size":1}
        DELETE new same, generation 2
        gone as {}
      an unknown field: PUT new new new same, generation 2
        shown creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generation managedFields name namespace resourceVersion uid {"color":"blue","replicas":1,"size":1}
        DELETE new same, generation 2
        gone as {}
      an unknown field of the spec: PUT new new new same, generation 4
        shown creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generation managedFields name namespace resourceVersion uid {"color":"blue","replicas":1,"size":1}
        DELETE new same, generation 5
        gone as {"spec":{"x":1}}
    `);
  },
  { needs },
);

spec(
  66,
  'plugins see what the webhook before them has made of the metadata of a custom resource',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook } = await stage(t);
    const rules = [rule(widgets.group, 'widgets', { operations: ['CREATE'] })];
    const unlabelled = { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] };
    await hook.install('Mutating', [
      hook.entry('a.kctl.test', { rules }),
      hook.entry('b.kctl.test', { rules, objectSelector: unlabelled }),
      hook.entry('c.kctl.test', { rules, objectSelector: { matchLabels: { b: 'x' } } }),
      hook.entry('d.kctl.test', {
        rules,
        matchConditions: [{ name: 'has', expression: '"a" in object.metadata.labels' }],
      }),
    ]);
    await hook.install('Validating', [hook.entry('v.kctl.test', { rules })]);
    const seen = transcript({ NS: ns, GROUP: widgets.group });
    for (const [index, [what, patch]] of Object.entries(patches).entries()) {
      hook.answer = ({ url }) => (url.startsWith('/a?') ? mutate([patch]) : allow());
      const draft = widgets.draft(`w${index}`, {}, { labels: { a: 'y' } });
      seen.answer(what, await t.post(widgets.path(ns), draft), ({ metadata, spec: { bogus } }) => [
        metadata.labels,
        bogus,
      ]);
      seen.reviews(hook, ({ request: { object } }) => {
        const { labels, annotations, ownerReferences, bogus } = object.metadata;
        return { labels, annotations, ownerReferences, bogus, spec: object.spec.bogus };
      });
    }
    seen.is(`
      labels a text: 403 Forbidden widgets.GROUP "w0" is forbidden: expression '"a" in object.metadata.labels' resulted in error: no such overload {"group":"GROUP","kind":"widgets","name":"w0"}
        /a?timeout=5s {"labels":{"a":"y"}}
        /b?timeout=5s {"labels":"x"}
      labels a number in it: 201 [null,null]
        /a?timeout=5s {"labels":{"a":"y"}}
        /b?timeout=5s {"labels":{"a":1,"b":"x"}}
        /d?timeout=5s {"labels":{"a":1,"b":"x"}}
        /v?timeout=5s {"labels":{"a":1,"b":"x"}}
      labels null: 403 Forbidden widgets.GROUP "w2" is forbidden: expression '"a" in object.metadata.labels' resulted in error: no such overload {"group":"GROUP","kind":"widgets","name":"w2"}
        /a?timeout=5s {"labels":{"a":"y"}}
        /b?timeout=5s {"labels":null}
      labels none: 201 [null,null]
        /a?timeout=5s {"labels":{"a":"y"}}
        /b?timeout=5s {"labels":{}}
        /v?timeout=5s {"labels":{}}
      annotations a list: 201 [{"a":"y"},null]
        /a?timeout=5s {"labels":{"a":"y"}}
        /d?timeout=5s {"annotations":["x"],"labels":{"a":"y"}}
        /v?timeout=5s {"annotations":["x"],"labels":{"a":"y"}}
      annotations null: 201 [{"a":"y"},null]
        /a?timeout=5s {"labels":{"a":"y"}}
        /d?timeout=5s {"annotations":null,"labels":{"a":"y"}}
        /v?timeout=5s {"annotations":null,"labels":{"a":"y"}}
      owners none: 201 [{"a":"y"},null]
        /a?timeout=5s {"labels":{"a":"y"}}
        /d?timeout=5s {"labels":{"a":"y"},"ownerReferences":[]}
        /v?timeout=5s {"labels":{"a":"y"},"ownerReferences":[]}
      owners a text: 201 [{"a":"y"},null]
        /a?timeout=5s {"labels":{"a":"y"}}
        /d?timeout=5s {"labels":{"a":"y"},"ownerReferences":"x"}
        /v?timeout=5s {"labels":{"a":"y"},"ownerReferences":"x"}
      owners null: 201 [{"a":"y"},null]
        /a?timeout=5s {"labels":{"a":"y"}}
        /d?timeout=5s {"labels":{"a":"y"},"ownerReferences":null}
        /v?timeout=5s {"labels":{"a":"y"},"ownerReferences":null}
      an unknown field: 201 [{"a":"y"},null]
        /a?timeout=5s {"labels":{"a":"y"}}
        /d?timeout=5s {"bogus":1,"labels":{"a":"y"}}
        /v?timeout=5s {"bogus":1,"labels":{"a":"y"}}
      an unknown field of the spec: 201 [{"a":"y"},null]
        /a?timeout=5s {"labels":{"a":"y"}}
        /d?timeout=5s {"labels":{"a":"y"},"spec":{"x":1}}
        /v?timeout=5s {"labels":{"a":"y"},"spec":{"x":1}}
    `);
  },
  { needs },
);

spec(
  66,
  'what a webhook makes of the metadata of a custom resource has to be sound where it is converted to be stored',
  async (plain) => {
    const t = steady(plain);
    const { ns, hook } = await stage(t);
    const converter = await startConverter((object, apiVersion) => ({ ...object, apiVersion }));
    t.defer(() => converter.stop());
    const { clientConfig } = converter;
    const group = `${t.unique('sound')}.kctl.test`;
    const make = async (plural: string, kind: string, conversion: Draft): Promise<void> => {
      const version = (name: string) => ({
        name,
        served: true,
        storage: name === 'v1',
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
      });
      const names = { plural, singular: kind.toLowerCase(), kind };
      const versions = [version('v1'), version('v2')];
      await t.crd({
        metadata: { name: `${plural}.${group}` },
        spec: { group, scope: 'Namespaced', names, conversion, versions },
      });
    };
    await make('plains', 'Plain', { strategy: 'None' });
    await make('calls', 'Call', { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } });
    await hook.install('Mutating', [
      hook.entry('a.kctl.test', { rules: [rule(group, ['plains', 'calls'], { operations: ['CREATE'] })] }),
    ]);
    const seen = transcript({ NS: ns, GROUP: group });
    for (const [plural, kind] of [
      ['plains', 'Plain'],
      ['calls', 'Call'],
    ] as const) {
      for (const [index, [what, patch]] of Object.entries(patches).entries()) {
        hook.answer = () => mutate([patch]);
        for (const version of ['v1', 'v2']) {
          const body = {
            apiVersion: `${group}/${version}`,
            kind,
            metadata: { name: `${version}-${index}` },
            spec: {},
          };
          const answer = await t.post(`/apis/${group}/${version}/namespaces/${ns}/${plural}`, body);
          seen.answer(`${plural} ${version} ${what}`, answer, ({ metadata, spec: own }) => [metadata.labels, own]);
        }
      }
    }
    seen.is(`
      plains v1 labels a text: 201 [null,{}]
      plains v2 labels a text: 500 - json: cannot unmarshal string into Go struct field ObjectMeta.labels of type map[string]string
      plains v1 labels a number in it: 201 [null,{}]
      plains v2 labels a number in it: 500 - json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string
      plains v1 labels null: 201 [null,{}]
      plains v2 labels null: 201 [null,{}]
      plains v1 labels none: 201 [null,{}]
      plains v2 labels none: 201 [null,{}]
      plains v1 annotations a list: 201 [null,{}]
      plains v2 annotations a list: 500 - json: cannot unmarshal array into Go struct field ObjectMeta.annotations of type map[string]string
      plains v1 annotations null: 201 [null,{}]
      plains v2 annotations null: 201 [null,{}]
      plains v1 owners none: 201 [null,{}]
      plains v2 owners none: 201 [null,{}]
      plains v1 owners a text: 201 [null,{}]
      plains v2 owners a text: 500 - json: cannot unmarshal string into Go struct field ObjectMeta.ownerReferences of type []v1.OwnerReference
      plains v1 owners null: 201 [null,{}]
      plains v2 owners null: 201 [null,{}]
      plains v1 an unknown field: 201 [null,{}]
      plains v2 an unknown field: 201 [null,{}]
      plains v1 an unknown field of the spec: 201 [null,{}]
      plains v2 an unknown field of the spec: 201 [null,{}]
      calls v1 labels a text: 201 [null,{}]
      calls v2 labels a text: 500 - conversion webhook for GROUP/v2, Kind=Call returned invalid metadata: invalid metadata.labels of type string in converted object
      calls v1 labels a number in it: 201 [null,{}]
      calls v2 labels a number in it: 500 - conversion webhook for GROUP/v2, Kind=Call returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object
      calls v1 labels null: 201 [null,{}]
      calls v2 labels null: 201 [null,{}]
      calls v1 labels none: 201 [null,{}]
      calls v2 labels none: 201 [null,{}]
      calls v1 annotations a list: 201 [null,{}]
      calls v2 annotations a list: 500 - conversion webhook for GROUP/v2, Kind=Call returned invalid metadata: invalid metadata.annotations of type []interface {} in converted object
      calls v1 annotations null: 201 [null,{}]
      calls v2 annotations null: 201 [null,{}]
      calls v1 owners none: 201 [null,{}]
      calls v2 owners none: 201 [null,{}]
      calls v1 owners a text: 201 [null,{}]
      calls v2 owners a text: 500 - json: cannot unmarshal string into Go struct field ObjectMeta.ownerReferences of type []v1.OwnerReference
      calls v1 owners null: 201 [null,{}]
      calls v2 owners null: 201 [null,{}]
      calls v1 an unknown field: 201 [null,{}]
      calls v2 an unknown field: 201 [null,{}]
      calls v1 an unknown field of the spec: 201 [null,{}]
      calls v2 an unknown field of the spec: 201 [null,{}]
    `);
  },
  { needs },
);

spec(
  66,
  'webhooks see null metadata of an applied custom resource, and bounds of 0 where a strategy does not roll',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook } = await stage(t);
    const rules = [
      rule(widgets.group, 'widgets'),
      rule('apps', ['deployments', 'daemonsets', 'statefulsets'], { operations: ['CREATE', 'UPDATE'] }),
    ];
    await hook.install('Mutating', [hook.entry('v.kctl.test', { rules })]);
    const seen = transcript({ NS: ns, GROUP: widgets.group });
    const { apiVersion } = widgets;
    for (const nothing of [null, {}]) {
      for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences']) {
        const list = field === 'finalizers' || field === 'ownerReferences';
        const metadata = { name: 'a', [field]: list && nothing !== null ? [] : nothing };
        const config = { apiVersion, kind: 'Widget', metadata, spec: { size: 1 } };
        const query = { fieldManager: 'one' };
        seen.answer(
          `${field} ${JSON.stringify(nothing)}`,
          await t.patch(widgets.path(ns, 'a'), APPLY_PATCH, config, { query }),
        );
        seen.answer('again', await t.patch(widgets.path(ns, 'a'), APPLY_PATCH, config, { query }));
        await t.delete(widgets.path(ns, 'a'));
        seen.reviews(hook, ({ request: { operation, object } }) => {
          const { labels, annotations, finalizers, ownerReferences } = object?.metadata ?? {};
          return [operation, { labels, annotations, finalizers, ownerReferences }];
        });
      }
    }
    const strategies = [
      ['deployments', 'Deployment', 'strategy', 'Recreate', { maxSurge: 2 }],
      ['deployments', 'Deployment', 'strategy', 'RollingUpdate', { maxSurge: 2 }],
      ['deployments', 'Deployment', 'strategy', 'Zip', {}],
      ['daemonsets', 'DaemonSet', 'updateStrategy', 'OnDelete', { maxUnavailable: 2 }],
      ['statefulsets', 'StatefulSet', 'updateStrategy', 'OnDelete', {}],
    ] as const;
    for (const [plural, kind, field, type, rollingUpdate] of strategies) {
      const { metadata, spec: own } = deploymentDraft('d');
      const body = {
        apiVersion: 'apps/v1',
        kind,
        metadata,
        spec: { ...Object(own), [field]: { type, rollingUpdate }, ...(kind === 'StatefulSet' && { serviceName: 's' }) },
      };
      const { status } = await t.post(`/apis/apps/v1/namespaces/${ns}/${plural}`, body, { query: { dryRun: 'All' } });
      seen.say(`${kind} ${type} ${status}`);
      seen.reviews(hook, ({ request: { object } }) => object.spec[field]);
    }
    seen.is(`
      labels null: 201
      again: 200
        /v?timeout=5s ["CREATE",{"labels":null}]
        /v?timeout=5s ["UPDATE",{"labels":null}]
        /v?timeout=5s ["DELETE",{}]
      annotations null: 201
      again: 200
        /v?timeout=5s ["CREATE",{"annotations":null}]
        /v?timeout=5s ["UPDATE",{"annotations":null}]
        /v?timeout=5s ["DELETE",{}]
      finalizers null: 201
      again: 200
        /v?timeout=5s ["CREATE",{"finalizers":null}]
        /v?timeout=5s ["UPDATE",{"finalizers":null}]
        /v?timeout=5s ["DELETE",{}]
      ownerReferences null: 201
      again: 200
        /v?timeout=5s ["CREATE",{"ownerReferences":null}]
        /v?timeout=5s ["UPDATE",{"ownerReferences":null}]
        /v?timeout=5s ["DELETE",{}]
      labels {}: 201
      again: 200
        /v?timeout=5s ["CREATE",{"labels":{}}]
        /v?timeout=5s ["UPDATE",{"labels":{}}]
        /v?timeout=5s ["DELETE",{}]
      annotations {}: 201
      again: 200
        /v?timeout=5s ["CREATE",{"annotations":{}}]
        /v?timeout=5s ["UPDATE",{"annotations":{}}]
        /v?timeout=5s ["DELETE",{}]
      finalizers {}: 201
      again: 200
        /v?timeout=5s ["CREATE",{"finalizers":[]}]
        /v?timeout=5s ["UPDATE",{"finalizers":[]}]
        /v?timeout=5s ["DELETE",{}]
      ownerReferences {}: 201
      again: 200
        /v?timeout=5s ["CREATE",{"ownerReferences":[]}]
        /v?timeout=5s ["UPDATE",{"ownerReferences":[]}]
        /v?timeout=5s ["DELETE",{}]
      Deployment Recreate 422
        /v?timeout=5s {"rollingUpdate":{"maxSurge":2,"maxUnavailable":0},"type":"Recreate"}
      Deployment RollingUpdate 201
        /v?timeout=5s {"rollingUpdate":{"maxSurge":2,"maxUnavailable":"25%"},"type":"RollingUpdate"}
      Deployment Zip 422
        /v?timeout=5s {"rollingUpdate":{"maxSurge":0,"maxUnavailable":0},"type":"Zip"}
      DaemonSet OnDelete 201
        /v?timeout=5s {"rollingUpdate":{"maxSurge":0,"maxUnavailable":2},"type":"OnDelete"}
      StatefulSet OnDelete 422
        /v?timeout=5s {"rollingUpdate":{"partition":0},"type":"OnDelete"}
    `);
  },
  { needs },
);
