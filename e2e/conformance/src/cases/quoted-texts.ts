/** Texts of a client in messages: quoted as Go's `%q`, which escapes other characters than JSON does. */
import { check, failure, matches } from '../harness/expect.js';
import type { Answer } from '../harness/http.js';
import { spec } from '../harness/spec.js';
import { configMaps, pods, services } from './paths.js';

const odd = 'a\u0007\u007f\u200b\u00a0"\\é<';
const inUrl = encodeURIComponent(odd);
/** As `%q`. */
const quoted = String.raw`"a\a\x7f\u200b\u00a0\"\\é<"`;
/** As `json.Marshal`, which is how values of a named string type are printed. */
const marshalled = `"a\\u0007\u007f\u200b\u00a0\\"\\\\é\\u003c"`;
/** As the package time. */
const bytes = `"a\\x07\u007f\\xe2\\x80\\x8b\\xc2\\xa0\\"\\\\\\xc3\\xa9<"`;

function says(answer: Answer, code: number, text: string): void {
  const message = answer.body['message'];
  check(answer.status === code, `${answer.request}: expected ${code}, got ${answer.status} ${answer.text}`);
  check(typeof message === 'string' && message.includes(text), `expected ${text} in ${answer.text}`);
}

spec(14, 'messages quote names as Go does', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  says(await t.get(configMaps(ns, inUrl)), 404, `configmaps ${quoted} not found`);
  says(await t.send('DELETE', configMaps(ns, inUrl)), 404, `configmaps ${quoted} not found`);
  says(await t.get(widgets.path(ns, inUrl)), 404, ` ${quoted} not found`);
  const metadata = { name: odd };
  says(
    await t.post(configMaps(ns), { metadata }),
    422,
    `ConfigMap ${quoted} is invalid: metadata.name: Invalid value: ${quoted}: `,
  );
  says(
    await t.post(widgets.path(ns), { ...widgets.draft('x'), metadata }),
    422,
    `metadata.name: Invalid value: ${quoted}: `,
  );
});

spec(20, 'messages quote options as Go does, those of a named type as JSON', async (t) => {
  const ns = await t.namespace();
  const of = (query: string): string => `${configMaps(ns)}?${query}=${inUrl}`;
  const parsing = `parsing ${quoted}: invalid syntax`;
  says(
    await t.get(of('resourceVersion')),
    400,
    `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: ${parsing}`,
  );
  says(await t.get(of('limit')), 400, `strconv.ParseInt: ${parsing}`);
  says(await t.get(of('resourceVersionMatch')), 422, `Unsupported value: ${marshalled}: supported values`);
  says(await t.get(of('timeout')), 400, `time: invalid duration ${bytes}`);
  says(await t.get(`${of('fieldSelector')}=b`), 400, `${quoted} is not a known field selector: `);
  says(await t.post(of('fieldValidation'), { metadata: { name: 'a' } }), 422, `Unsupported value: ${quoted}: `);
  says(await t.post(of('dryRun'), { metadata: { name: 'a' } }), 422, `Unsupported value: [${marshalled}]: `);
  says(
    await t.send('DELETE', `${configMaps(ns, 'a')}?propagationPolicy=${inUrl}`),
    422,
    `Unsupported value: ${marshalled}: `,
  );
});

spec(20, 'label selectors are refused for their keys and values in the words of labels.NewRequirement', async (t) => {
  const ns = await t.namespace();
  const refused = async (selector: string, text: string): Promise<void> =>
    says(
      await t.get(`${configMaps(ns)}?labelSelector=${encodeURIComponent(selector)}`),
      400,
      `unable to parse requirement: ${text}`,
    );
  await refused('a=-5', 'values[0][a]: Invalid value: "-5": a valid label must be an empty string or consist of');
  await refused('a in (-a,ok,_b)', '[values[0][a]: Invalid value: "-a": a valid label must be');
  await refused('a in (\u0007)', String.raw`values[0][a]: Invalid value: "\a": a valid label must be`);
  await refused('a>x', `values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`);
  await refused(
    `a=${'x'.repeat(64)}`,
    `values[0][a]: Invalid value: "${'x'.repeat(64)}": must be no more than 63 bytes`,
  );
  await refused('-a', '<nil>: Invalid value: "-a": name part must consist of alphanumeric characters');
  await refused('/a', '<nil>: Invalid value: "/a": prefix part must be non-empty');
  await refused('\u00e9=b', '<nil>: Invalid value: "\u00e9": name part must consist of alphanumeric characters');
  await refused('a\u00a0=b', String.raw`<nil>: Invalid value: "a\u00a0": name part must consist of`);
});

spec(10, 'messages quote what a body says as Go does', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const metadata = { name: 'a' };
  says(
    await t.post(configMaps(ns), { apiVersion: odd, kind: 'ConfigMap', metadata }),
    400,
    `no kind "ConfigMap" is registered for version ${quoted} in scheme`,
  );
  says(
    await t.post(configMaps(ns), { apiVersion: 'v1', kind: odd, metadata }),
    400,
    `no kind ${quoted} is registered for version "v1" in scheme`,
  );
  says(
    await t.post(widgets.path(ns), { ...widgets.draft('x'), kind: odd }),
    422,
    `kind: Invalid value: ${quoted}: must be Widget`,
  );
  says(
    await t.post(configMaps(ns), { metadata: { ...metadata, labels: { [odd]: 'x' } } }),
    422,
    `metadata.labels: Invalid value: ${quoted}: name part`,
  );
  says(
    await t.post(configMaps(ns), { metadata, data: { [odd]: 'x' } }),
    422,
    `data[${odd}]: Invalid value: ${quoted}: `,
  );
  const strict = '?fieldValidation=Strict';
  says(await t.post(configMaps(ns) + strict, { metadata, [odd]: 'x' }), 400, `unknown field ${quoted}`);
  says(await t.post(widgets.path(ns) + strict, { ...widgets.draft('x'), [odd]: 'x' }), 400, `unknown field "${odd}"`);
  const ports = [{ port: 1, protocol: odd }];
  says(
    await t.post(services(ns), { metadata, spec: { ports } }),
    422,
    `spec.ports[0].protocol: Unsupported value: ${marshalled}: `,
  );
  const containers = [{ name: 'c', image: 'i', imagePullPolicy: odd }];
  says(
    await t.post(`${pods(ns)}?dryRun=All`, { metadata, spec: { containers } }),
    422,
    `Unsupported value: ${marshalled}: `,
  );
  const event = { metadata, firstTimestamp: odd, involvedObject: { namespace: ns } };
  says(
    await t.post(`/api/v1/namespaces/${ns}/events`, event),
    400,
    `parsing time ${bytes} as "2006-01-02T15:04:05Z07:00": cannot parse ${bytes} as "2006"`,
  );
});

spec(56, 'each character of a fieldManager that is not printable is a cause, with its position in bytes', async (t) => {
  const ns = await t.namespace();
  const write = (manager: string): Promise<Answer> =>
    t.post(`${configMaps(ns)}?fieldManager=${encodeURIComponent(manager)}`, { metadata: { name: 'a' } });
  const cause = (
    text: string,
    character: string,
    position: number,
  ): { reason: string; field: string; message: string } => ({
    reason: 'FieldValueInvalid',
    field: 'fieldManager',
    message: `Invalid value: ${text}: invalid character ${character} (at position ${position})`,
  });
  failure(await write(odd), {
    code: 422,
    reason: 'Invalid',
    causes: [
      cause(quoted, 'U+0007', 1),
      cause(quoted, 'U+007F', 2),
      cause(quoted, 'U+200B', 3),
      cause(quoted, 'U+00A0', 6),
    ],
  });
  const rest = 'x'.repeat(130);
  const long = String.raw`"é\u200b\u0085\U000e0001${rest}"`;
  failure(await write(`é\u200b\u0085\u{e0001}${rest}`), {
    code: 422,
    reason: 'Invalid',
    causes: [
      { reason: 'FieldValueTooLong', field: 'fieldManager', message: 'Too long: may not be more than 128 bytes' },
      cause(long, 'U+200B', 2),
      cause(long, 'U+0085', 5),
      cause(long, 'U+E0001', 7),
    ],
  });
  const { status, text } = await write('é日 😀');
  matches(String(status), '201', text);
});

spec(60, 'a value that is not in an enum of a custom resource is quoted as Go does', async (t) => {
  const ns = await t.namespace();
  const openAPIV3Schema = {
    type: 'object',
    properties: { e: { type: 'string', enum: ['x', odd] }, p: { type: 'string', pattern: '^x$' } },
  };
  const group = `${t.unique('t')}.kctl.test`;
  await t.crd({
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  });
  const things = `/apis/${group}/v1/namespaces/${ns}/things`;
  const draft = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' } };
  says(
    await t.post(things, { ...draft, e: `${odd}!` }),
    422,
    `e: Unsupported value: ${quoted.slice(0, -1)}!": supported values: "x", ${quoted}`,
  );
  says(await t.post(things, { ...draft, p: odd }), 422, `p: Invalid value: ${quoted}: p in body should match '^x$'`);
});
