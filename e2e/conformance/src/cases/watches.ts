/** §2.4 WATCH. */
import type { Context } from '../harness/context.js';
import { MERGE_PATCH } from '../harness/context.js';
import type { Doc, Json, WatchEvent } from '../harness/doc.js';
import { check, checkNewer, checkStatus, created, names, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import { WatchRefused } from '../harness/watch.js';
import { configMaps, createConfigMap, podDraft, podNamespace, pods } from './paths.js';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const SENTINEL = 'zz-sentinel';
const END = 'k8s.io/initial-events-end';

const brief = (events: readonly WatchEvent[]): [string, string][] =>
  events.map(({ type, object }) => [type, object.metadata.name]);

/** Only objects of the case: a real cluster puts kube-root-ca.crt into every namespace. */
const OURS = 'metadata.name!=kube-root-ca.crt';

async function listRevision(t: Context, path: string): Promise<string> {
  return ok(await t.get(path)).metadata.resourceVersion;
}

async function refused(
  t: Context,
  path: string,
  query: Record<string, string | number | boolean>,
): Promise<{ status: number; body: Doc }> {
  try {
    await t.watch(path, { query });
  } catch (error) {
    if (error instanceof WatchRefused) return { status: error.status, body: JSON.parse(error.text) as Doc };
    throw error;
  }
  throw new Error(`the watch was accepted: ${JSON.stringify(query)}`);
}

spec(21, 'headers are flushed before the first event, and each event is a line of JSON', async (t) => {
  const ns = await t.namespace();
  const watch = await t.watch(configMaps(ns), {
    query: { resourceVersion: await listRevision(t, configMaps(ns)), fieldSelector: OURS },
  });
  same([watch.status, watch.headers['content-type']], [200, 'application/json'], 'answer');
  await createConfigMap(t, ns, 'a', { data: { a: '1' } });
  const event = await watch.next();
  same(
    [Object.keys(event).toSorted(), event.type, event.object.kind, event.object.apiVersion, event.object.data],
    [['object', 'type'], 'ADDED', 'ConfigMap', 'v1', { a: '1' }],
    'event',
  );
});

spec(21, 'watch=1 and watch=true alike, watch=0 and watch=false are lists', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  for (const watch of ['1', 'true'] as const)
    same(
      (await (await t.watch(configMaps(ns), { query: { watch, fieldSelector: 'metadata.name=a' } })).next()).type,
      'ADDED',
      watch,
    );
  for (const watch of ['0', 'false'] as const)
    same(ok(await t.get(configMaps(ns), { query: { watch } })).kind, 'ConfigMapList', watch);
});

spec(21, 'watch on the path of an object is a plain GET', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  same(ok(await t.get(configMaps(ns, 'a'), { query: { watch: true } })).kind, 'ConfigMap', 'kind');
});

spec(21, 'the legacy prefix /watch', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  await createConfigMap(t, ns, 'a');
  const watch = await t.watch(`/api/v1/watch/namespaces/${ns}/configmaps`, {
    query: { watch: undefined, fieldSelector: OURS },
  });
  same(brief([await watch.next()]), [['ADDED', 'a']], 'collection');
  const one = await t.watch(`/api/v1/watch/namespaces/${ns}/configmaps/a`);
  same(brief([await one.next()]), [['ADDED', 'a']], 'object');
  created(await t.post(widgets.path(ns), widgets.draft('w')));
  const custom = await t.watch(`/apis/${widgets.apiVersion}/watch/namespaces/${ns}/widgets`);
  same(brief([await custom.next()]), [['ADDED', 'w']], 'custom resource');
});

spec(21, 'one object is watched by a field selector on its name', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  const watch = await t.watch(configMaps(ns), { query: { fieldSelector: 'metadata.name=a' } });
  await createConfigMap(t, ns, 'b');
  ok(await t.delete(configMaps(ns, 'a')));
  same(
    brief(await watch.take(2)),
    [
      ['ADDED', 'a'],
      ['DELETED', 'a'],
    ],
    'events',
  );
});

for (const resourceVersion of [undefined, '0'])
  spec(
    22,
    `watch with resourceVersion ${resourceVersion ?? 'unset'} starts with the current state, then follows`,
    async (t) => {
      const ns = await t.namespace();
      const widgets = await t.widgets();
      const path = widgets.path(ns);
      for (const name of ['b', 'a']) created(await t.post(path, widgets.draft(name)));
      // The cache behind resourceVersion=0 may be behind: wait until it has both.
      await t.eventually(
        async () => ok(await t.get(path, { query: { resourceVersion: 0 } })),
        (list) => list.items.length === 2,
      );
      const watch = await t.watch(path, { query: { resourceVersion } });
      created(await t.post(path, widgets.draft('c')));
      const events = await watch.take(3);
      same(
        brief(events.slice(0, 2)).toSorted(),
        [
          ['ADDED', 'a'],
          ['ADDED', 'b'],
        ],
        'initial',
      );
      same(brief(events.slice(2)), [['ADDED', 'c']], 'then');
    },
  );

spec(22, 'watch from N sends what came after N, in order', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const path = widgets.path(ns);
  const first = created(await t.post(path, widgets.draft('a')));
  ok(await t.patch(`${path}/a`, MERGE_PATCH, { spec: { size: 2 } }));
  created(await t.post(path, widgets.draft('b')));
  ok(await t.delete(`${path}/a`));
  const watch = await t.watch(path, { query: { resourceVersion: first.metadata.resourceVersion } });
  const events = await watch.take(3);
  same(
    brief(events),
    [
      ['MODIFIED', 'a'],
      ['ADDED', 'b'],
      ['DELETED', 'a'],
    ],
    'events',
  );
  let previous = first.metadata.resourceVersion;
  for (const { object } of events) {
    checkNewer(object.metadata.resourceVersion, previous, 'event');
    previous = object.metadata.resourceVersion;
  }
});

spec(22, 'DELETED carries the last state with the revision of the deletion', async (t) => {
  const ns = await t.namespace();
  const made = await createConfigMap(t, ns, 'a', { data: { a: '1' } });
  const watch = await t.watch(configMaps(ns), {
    query: { resourceVersion: made.metadata.resourceVersion, fieldSelector: OURS },
  });
  ok(await t.delete(configMaps(ns, 'a')));
  const { type, object } = await watch.next();
  same([type, object.metadata.uid, object.data], ['DELETED', made.metadata.uid, { a: '1' }], 'event');
  checkNewer(object.metadata.resourceVersion, made.metadata.resourceVersion, 'deletion');
});

spec(23, 'label selector: leaving is DELETED, entering is ADDED, staying is MODIFIED', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const path = widgets.path(ns);
  const made = created(await t.post(path, widgets.draft('a', { size: 1 }, { labels: { l: 'a' } })));
  const watch = await t.watch(path, {
    query: { resourceVersion: made.metadata.resourceVersion, labelSelector: 'l=a' },
  });
  const relabel = async (l: string | null, size: number) =>
    ok(await t.patch(`${path}/a`, MERGE_PATCH, { metadata: { labels: { l } }, spec: { size } }));
  const left = await relabel('b', 2);
  await relabel('c', 3);
  const entered = await relabel('a', 4);
  await relabel('a', 5);
  created(await t.post(path, widgets.draft('b')));
  ok(await t.delete(`${path}/a`));
  created(await t.post(path, widgets.draft(SENTINEL, {}, { labels: { l: 'a' } })));
  const events = await watch.until(({ object }) => object.metadata.name === SENTINEL);
  same(
    brief(events),
    [
      ['DELETED', 'a'],
      ['ADDED', 'a'],
      ['MODIFIED', 'a'],
      ['DELETED', 'a'],
      ['ADDED', SENTINEL],
    ],
    'events',
  );
  const [gone, back] = events as [WatchEvent, WatchEvent];
  same(
    [gone.object.metadata.labels, gone.object.spec.size, gone.object.metadata.resourceVersion],
    [{ l: 'a' }, 1, left.metadata.resourceVersion],
    'the old object with the new revision',
  );
  same([back.object.spec.size, back.object.metadata.resourceVersion], [4, entered.metadata.resourceVersion], 'entered');
});

spec(23, 'field selector: transitions likewise', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const path = widgets.path(ns);
  const made = created(await t.post(path, widgets.draft('a', { color: 'red' })));
  const watch = await t.watch(path, {
    query: { resourceVersion: made.metadata.resourceVersion, fieldSelector: 'spec.color=red' },
  });
  for (const color of ['green', 'blue', 'red']) ok(await t.patch(`${path}/a`, MERGE_PATCH, { spec: { color } }));
  ok(await t.delete(`${path}/a`));
  same(
    brief(await watch.take(3)),
    [
      ['DELETED', 'a'],
      ['ADDED', 'a'],
      ['DELETED', 'a'],
    ],
    'events',
  );
});

spec(23, 'field selector of a built-in: transitions likewise', async (t) => {
  const ns = await podNamespace(t);
  const made = created(await t.post(pods(ns), podDraft('a')));
  const watch = await t.watch(pods(ns), {
    query: { resourceVersion: made.metadata.resourceVersion, fieldSelector: 'status.phase=Pending' },
  });
  ok(await t.patch(`${pods(ns, 'a')}/status`, MERGE_PATCH, { status: { phase: 'Running' } }));
  ok(await t.patch(`${pods(ns, 'a')}/status`, MERGE_PATCH, { status: { phase: 'Pending' } }));
  same(
    brief(await watch.take(2)),
    [
      ['DELETED', 'a'],
      ['ADDED', 'a'],
    ],
    'events',
  );
});

spec(23, 'a watch of a namespace sees nothing of others, one of all namespaces sees all', async (t) => {
  const [one, other] = [await t.namespace(), await t.namespace()];
  const widgets = await t.widgets();
  const from = await listRevision(t, widgets.path(one));
  const inOne = await t.watch(widgets.path(one), { query: { resourceVersion: from } });
  const everywhere = await t.watch(widgets.everywhere, {
    query: { resourceVersion: from, labelSelector: `case=${one}` },
  });
  const labels = { labels: { case: one } };
  created(await t.post(widgets.path(other), widgets.draft('b', {}, labels)));
  created(await t.post(widgets.path(one), widgets.draft('a', {}, labels)));
  same(brief([await inOne.next()]), [['ADDED', 'a']], 'one');
  same(
    brief(await everywhere.take(2)),
    [
      ['ADDED', 'b'],
      ['ADDED', 'a'],
    ],
    'all',
  );
});

spec(
  24,
  'a revision older than the window: 200, one ERROR event 410 Expired, then the end',
  async (t) => {
    const ns = await t.namespace();
    const widgets = await t.widgets();
    created(await t.post(widgets.path(ns), widgets.draft('a')));
    await t.target.compact?.();
    const watch = await t.watch(widgets.path(ns), { query: { resourceVersion: 1 } });
    const events = await watch.rest();
    same(
      events.map(({ type }) => type),
      ['ERROR'],
      'events',
    );
    checkStatus(events[0]?.object as Doc, {
      code: 410,
      reason: 'Expired',
      message: /^too old resource version: 1 \(\d+\)$/,
    });
  },
  { needs: ['expiry'], isExclusive: true },
);

spec(24, 'a revision of the future: 200 and silence until the timeout', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const made = created(await t.post(widgets.path(ns), widgets.draft('a')));
  const resourceVersion = String(BigInt(made.metadata.resourceVersion) + 1_000_000n);
  const watch = await t.watch(widgets.path(ns), { query: { resourceVersion, timeoutSeconds: 1 } });
  created(await t.post(widgets.path(ns), widgets.draft('b')));
  same(await watch.rest(), [], 'events');
});

spec(24, 'a revision that is no number answers 500 for a custom resource', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const { status, body } = await refused(t, widgets.path(ns), { resourceVersion: 'abc' });
  same(status, 500, 'status');
  checkStatus(body, {
    code: 500,
    reason: undefined,
    message: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
  });
});

spec(
  25,
  'a bookmark shortly before the timeout has only kind, apiVersion and revision',
  async (t) => {
    const ns = await t.namespace();
    const widgets = await t.widgets();
    const made = created(await t.post(widgets.path(ns), widgets.draft('a', {}, { labels: { mark: ns } })));
    const watch = await t.watch(widgets.everywhere, {
      query: {
        resourceVersion: made.metadata.resourceVersion,
        allowWatchBookmarks: true,
        timeoutSeconds: 4,
        labelSelector: `mark=${ns}`,
      },
    });
    const other = created(await t.post(widgets.path(ns), widgets.draft('b')));
    const events = await watch.rest(10_000);
    const bookmarks = events.filter(({ type }) => type === 'BOOKMARK');
    check(
      bookmarks.length > 0 && bookmarks.length === events.length,
      `expected bookmarks only, got ${JSON.stringify(brief(events))}`,
    );
    const { object } = bookmarks.at(-1) as WatchEvent;
    same([object.kind, object.apiVersion], ['Widget', widgets.apiVersion], 'kind');
    same(Object.keys(object).toSorted(), ['apiVersion', 'kind', 'metadata'], 'fields');
    same(Object.keys(object.metadata), ['resourceVersion'], 'metadata');
    check(
      BigInt(object.metadata.resourceVersion) >= BigInt(other.metadata.resourceVersion),
      'the bookmark is behind the write',
    );
  },
  { isSlow: true },
);

spec(
  25,
  'without allowWatchBookmarks there are none',
  async (t) => {
    const ns = await t.namespace();
    const widgets = await t.widgets();
    const made = created(await t.post(widgets.path(ns), widgets.draft('a')));
    const watch = await t.watch(widgets.path(ns), {
      query: { resourceVersion: made.metadata.resourceVersion, timeoutSeconds: 4 },
    });
    created(await t.post(widgets.path(ns), widgets.draft('b')));
    same(brief(await watch.rest(10_000)), [['ADDED', 'b']], 'events');
  },
  { isSlow: true },
);

spec(
  25,
  'a bookmark of a built-in',
  async (t) => {
    const ns = await t.namespace();
    const made = await createConfigMap(t, ns, 'a');
    const watch = await t.watch(configMaps(ns), {
      query: {
        resourceVersion: made.metadata.resourceVersion,
        allowWatchBookmarks: true,
        timeoutSeconds: 4,
        labelSelector: 'no=thing',
      },
    });
    await createConfigMap(t, ns, 'b');
    const events = await watch.rest(10_000);
    same([...new Set(events.map(({ type }) => type))], ['BOOKMARK'], 'events');
    const object = events.at(-1)?.object as Json;
    same(
      [object.kind, object.apiVersion, Object.keys(object.metadata)],
      ['ConfigMap', 'v1', ['resourceVersion']],
      'bookmark',
    );
  },
  { isSlow: true },
);

spec(26, 'WatchList: initial events, then a bookmark that says so', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  for (const name of ['a', 'b']) created(await t.post(widgets.path(ns), widgets.draft(name)));
  for (const resourceVersion of [undefined, '0']) {
    if (resourceVersion === '0')
      await t.eventually(
        async () => ok(await t.get(widgets.path(ns), { query: { resourceVersion } })),
        (list) => list.items.length === 2,
      );
    const query = {
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: true,
      resourceVersion,
    };
    const watch = await t.watch(widgets.path(ns), { query });
    const events = await watch.until(({ type }) => type === 'BOOKMARK');
    same(
      brief(events.slice(0, -1)),
      [
        ['ADDED', 'a'],
        ['ADDED', 'b'],
      ],
      'initial events',
    );
    const { object } = events.at(-1) as WatchEvent;
    same([object.kind, object.metadata.annotations], ['Widget', { [END]: 'true' }], 'bookmark');
    const later = created(await t.post(widgets.path(ns), widgets.draft('c')));
    checkNewer(later.metadata.resourceVersion, object.metadata.resourceVersion, 'a later write');
    same(brief([await watch.next()]), [['ADDED', 'c']], 'then');
    ok(await t.delete(widgets.path(ns, 'c')));
    same(brief([await watch.next()]), [['DELETED', 'c']], 'then');
  }
});

spec(26, 'WatchList of a built-in, as client-go asks for it', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  const watch = await t.watch(configMaps(ns), {
    query: {
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: true,
      timeoutSeconds: 398,
      timeout: '6m38s',
      fieldSelector: OURS,
    },
    accept: 'application/json;q=0.9, application/json',
  });
  const events = await watch.until(({ type }) => type === 'BOOKMARK');
  same(brief(events.slice(0, -1)), [['ADDED', 'a']], 'initial events');
});

spec(26, 'WatchList without bookmarks sends initial events only', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  created(await t.post(widgets.path(ns), widgets.draft('a')));
  const watch = await t.watch(widgets.path(ns), {
    query: { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' },
  });
  same(brief([await watch.next()]), [['ADDED', 'a']], 'initial');
  created(await t.post(widgets.path(ns), widgets.draft('b')));
  same(brief([await watch.next()]), [['ADDED', 'b']], 'then');
});

spec(26, 'sendInitialEvents=false starts from now', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  created(await t.post(widgets.path(ns), widgets.draft('a')));
  await t.eventually(
    async () => ok(await t.get(widgets.path(ns), { query: { resourceVersion: 0 } })),
    (list) => list.items.length === 1,
  );
  const watch = await t.watch(widgets.path(ns), {
    query: { sendInitialEvents: false, resourceVersionMatch: 'NotOlderThan' },
  });
  created(await t.post(widgets.path(ns), widgets.draft('b')));
  same(brief([await watch.next()]), [['ADDED', 'b']], 'event');
});

const forbidden: [string, Record<string, string | boolean>, string][] = [
  [
    'sendInitialEvents without a match',
    { sendInitialEvents: true },
    'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
  ],
  [
    'a match without sendInitialEvents',
    { resourceVersionMatch: 'NotOlderThan' },
    'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
  ],
];
for (const [title, query, message] of forbidden)
  spec(26, `${title} answers 422`, async (t) => {
    const ns = await t.namespace();
    const widgets = await t.widgets();
    for (const path of [widgets.path(ns), configMaps(ns)]) {
      const { status, body } = await refused(t, path, query);
      same(status, 422, 'status');
      checkStatus(body, {
        code: 422,
        reason: 'Invalid',
        message: `ListOptions.meta.k8s.io "" is invalid: ${message}`,
        details: { group: 'meta.k8s.io', kind: 'ListOptions' },
        causes: [{ reason: 'FieldValueForbidden', field: 'resourceVersionMatch' }],
      });
    }
  });

spec(26, 'sendInitialEvents on a list answers 422', async (t) => {
  const ns = await t.namespace();
  const answer = await t.get(configMaps(ns), {
    query: { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' },
  });
  same(answer.status, 422, 'status');
  same(answer.body.reason, 'Invalid', 'reason');
  check(
    answer.body.message.includes('sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'),
    answer.text,
  );
});

spec(
  26,
  'WatchList of a revision of the future ends with an ERROR event 504',
  async (t) => {
    const ns = await t.namespace();
    const widgets = await t.widgets();
    const made = created(await t.post(widgets.path(ns), widgets.draft('a')));
    const resourceVersion = String(BigInt(made.metadata.resourceVersion) + 1_000_000n);
    const watch = await t.watch(widgets.path(ns), {
      query: {
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: true,
        resourceVersion,
      },
    });
    const events = await watch.rest();
    same(
      events.map(({ type }) => type),
      ['ERROR'],
      'events',
    );
    checkStatus(events[0]?.object as Doc, {
      code: 504,
      reason: 'Timeout',
      message: new RegExp(`^Timeout: Too large resource version: ${resourceVersion}, current: \\d+$`),
    });
  },
  { isSlow: true },
);

spec(27, 'timeoutSeconds ends the stream cleanly', async (t) => {
  const ns = await t.namespace();
  const made = await createConfigMap(t, ns, 'a');
  const started = performance.now();
  const watch = await t.watch(configMaps(ns), {
    query: { resourceVersion: made.metadata.resourceVersion, timeoutSeconds: 1, fieldSelector: OURS },
  });
  same(await watch.rest(), [], 'events');
  const took = performance.now() - started;
  check(took > 900 && took < 10_000, `ended after ${took} ms`);
});

spec(27, 'timeoutSeconds that is no number answers 400', async (t) => {
  const ns = await t.namespace();
  const { status, body } = await refused(t, configMaps(ns), { timeoutSeconds: 'x' });
  same(status, 400, 'status');
  checkStatus(body, { code: 400, reason: 'BadRequest' });
});

spec(27, 'limit is ignored, continue answers 422', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  for (const name of ['a', 'b']) created(await t.post(widgets.path(ns), widgets.draft(name)));
  const watch = await t.watch(widgets.path(ns), { query: { limit: 1 } });
  same(
    brief(await watch.take(2)),
    [
      ['ADDED', 'a'],
      ['ADDED', 'b'],
    ],
    'events',
  );
  const page = ok(await t.get(widgets.path(ns), { query: { limit: 1 } }));
  const { status, body } = await refused(t, widgets.path(ns), {
    continue: page.metadata.continue ?? '',
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
  });
  same(status, 422, 'status');
  checkStatus(body, { code: 422, reason: 'Invalid' });
});

spec(28, 'Table: the columns come in the first event only', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  for (const name of ['a', 'b']) created(await t.post(widgets.path(ns), widgets.draft(name)));
  const watch = await t.watch(widgets.path(ns), { accept: TABLE });
  const [first, second] = (await watch.take(2)) as [WatchEvent, WatchEvent];
  same(
    [first.type, first.object.kind, first.object['rows'][0].cells[0], first.object['columnDefinitions'].length],
    ['ADDED', 'Table', 'a', 4],
    'first',
  );
  same(
    [second.type, second.object.kind, second.object['rows'][0].cells[0], second.object['columnDefinitions'] ?? []],
    ['ADDED', 'Table', 'b', []],
    'second',
  );
  same(first.object['rows'][0].object.kind, 'PartialObjectMetadata', 'object');
});

spec(28, 'PartialObjectMetadata: events and bookmarks keep the shape', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  created(await t.post(widgets.path(ns), widgets.draft('a', {}, { labels: { x: 'y' } })));
  const watch = await t.watch(widgets.path(ns), {
    accept: PARTIAL,
    query: { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true },
  });
  const [event, bookmark] = (await watch.take(2)) as [WatchEvent, WatchEvent];
  same(
    [
      event.type,
      event.object.kind,
      event.object.apiVersion,
      Object.keys(event.object).toSorted(),
      event.object.metadata.labels,
    ],
    ['ADDED', 'PartialObjectMetadata', 'meta.k8s.io/v1', ['apiVersion', 'kind', 'metadata'], { x: 'y' }],
    'event',
  );
  same(
    [bookmark.type, bookmark.object.kind, bookmark.object.metadata.annotations],
    ['BOOKMARK', 'PartialObjectMetadata', { [END]: 'true' }],
    'bookmark',
  );
});

spec(
  29,
  'many concurrent writers: a watch sees each revision once, in order, and ends up with the state of the list',
  async (t) => {
    const ns = await t.namespace();
    const widgets = await t.widgets();
    const path = widgets.path(ns);
    const from = await listRevision(t, path);
    const watch = await t.watch(path, { query: { resourceVersion: from } });
    const objects = ['a', 'b', 'c', 'd'];
    await Promise.all(
      objects.map(async (name, index) => {
        for (let round = 0; round < 5; round++) {
          created(await t.post(path, widgets.draft(name, { size: round })));
          for (let size = 0; size < 5; size++)
            ok(await t.patch(`${path}/${name}`, MERGE_PATCH, { spec: { size: 10 * round + size + 100 } }));
          if (round < 4 || index % 2 === 0) ok(await t.delete(`${path}/${name}`));
        }
      }),
    );
    const sentinel = created(await t.post(path, widgets.draft(SENTINEL)));
    const events = await watch.until(({ object }) => object.metadata.name === SENTINEL);
    let previous = from;
    const state = new Map<string, Doc>();
    for (const { type, object } of events) {
      checkNewer(object.metadata.resourceVersion, previous, `${type} ${object.metadata.name}`);
      previous = object.metadata.resourceVersion;
      if (type === 'DELETED') state.delete(object.metadata.name);
      else state.set(object.metadata.name, object);
    }
    same(events.length, 4 * 5 * 6 + 4 * 4 + 2 + 1, 'number of events');
    same(sentinel.metadata.resourceVersion, previous, 'last revision');
    const list = ok(await t.get(path));
    same([...state.keys()].toSorted(), names(list), 'names');
    for (const item of list.items) same(state.get(item.metadata.name), item, item.metadata.name);

    // The same history again, from the beginning and from the middle.
    const middle = events[Math.floor(events.length / 2)] as WatchEvent;
    const replay = async (resourceVersion: string) =>
      (await t.watch(path, { query: { resourceVersion } })).until(({ object }) => object.metadata.name === SENTINEL);
    same(await replay(from), events, 'replay from the beginning');
    same(
      await replay(middle.object.metadata.resourceVersion),
      events.slice(events.indexOf(middle) + 1),
      'replay from the middle',
    );
  },
);

spec(29, 'nothing is lost or doubled between a list and a watch from its revision', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const path = widgets.path(ns);
  let isWriting = true;
  const writer = (async () => {
    for (let index = 0; index < 60; index++)
      created(await t.post(path, widgets.draft(`w${String(index).padStart(2, '0')}`)));
    isWriting = false;
  })();
  while (isWriting) {
    const list = ok(await t.get(path));
    const watch = await t.watch(path, { query: { resourceVersion: list.metadata.resourceVersion } });
    const have = names(list);
    if (have.length === 60) break;
    const next = await watch.next();
    same(next.object.metadata.name, `w${String(have.length).padStart(2, '0')}`, 'first event after the list');
    watch.close();
  }
  await writer;
});

spec(29, 'a no-op write makes no event', async (t) => {
  const ns = await t.namespace();
  const made = await createConfigMap(t, ns, 'a', { data: { a: '1' } });
  const watch = await t.watch(configMaps(ns), {
    query: { resourceVersion: made.metadata.resourceVersion, fieldSelector: OURS },
  });
  ok(await t.put(configMaps(ns, 'a'), made));
  ok(await t.patch(configMaps(ns, 'a'), MERGE_PATCH, { data: { a: '1' } }));
  await createConfigMap(t, ns, 'b');
  same(brief([await watch.next()]), [['ADDED', 'b']], 'event');
});

spec(21, 'watches of a built-in and of a custom resource with an unknown field selector answer 400', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const builtin = await refused(t, configMaps(ns), { fieldSelector: 'data.a=1' });
  same([builtin.status, builtin.body.reason], [400, 'BadRequest'], 'built-in');
  const custom = await refused(t, widgets.path(ns), { fieldSelector: 'spec.note=1' });
  same([custom.status, custom.body.reason], [400, 'BadRequest'], 'custom resource');
});
