/** Input that is meant to take long or much: refused with the same words, and nothing else is held up. */
import { JSON_PATCH } from '../harness/context.js';
import { check, created, failure } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import { configMaps, CRDS } from './paths.js';

spec(46, 'copies of a JSON patch that add more than 3 MiB answer 422', async (t) => {
  const ns = await t.namespace();
  const data = { a: 'x'.repeat(100_000) };
  created(await t.post(configMaps(ns), { metadata: { name: 'bomb' }, data }));
  const copies = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '/data/a', path: `/data/b${index}` }));
  failure(await t.patch(configMaps(ns, 'bomb'), JSON_PATCH, copies), {
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
  });
});

spec(10, 'YAML that multiplies itself by aliases answers 400', async (t) => {
  const ns = await t.namespace();
  const names = Array.from('abcdefghi');
  const lines = names.map((name, index) => {
    const inner = index === 0 ? 'lol' : `*${names[index - 1]}`;
    return `${name}: &${name} [${Array.from({ length: 9 }, () => inner).join(', ')}]`;
  });
  failure(await t.post(configMaps(ns), lines.join('\n'), { contentType: 'application/yaml' }), {
    code: 400,
    reason: 'BadRequest',
    message: /document contains excessive aliasing/,
  });
});

for (const [pattern, problem] of [
  ['^(?=a)', 'error parsing regexp: invalid or unsupported Perl syntax: `(?=`'],
  ['a**', 'error parsing regexp: invalid nested repetition operator: `**`'],
  ['(a', 'error parsing regexp: missing closing ): `(a`'],
  ['[z-a]', 'error parsing regexp: invalid character class range: `z-a`'],
  ['x{1001}', 'error parsing regexp: invalid repeat count: `{1001}`'],
  [String.raw`\8`, String.raw`error parsing regexp: invalid escape sequence: ` + '`\\8`'],
] as const)
  spec(60, `the pattern ${pattern} is refused with the reason`, async (t) => {
    const group = `${t.unique('t')}.kctl.test`;
    const openAPIV3Schema = { type: 'object', properties: { p: { type: 'string', pattern } } };
    const answer = await t.post(CRDS, {
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    });
    failure(answer, { code: 422, reason: 'Invalid' });
    const { message } = answer.body;
    check(message.includes(`must be a valid regular expression, but isn't: ${problem}`), message);
  });

for (const pattern of [
  '(?i)^[a-z]+$',
  '^[[:alpha:]]+$',
  String.raw`\Aab\z`,
  String.raw`^\pL+$`,
  '^(?P<n>a)$',
  String.raw`^\Qa.b\E$`,
])
  spec(60, `the pattern ${pattern} of Go is accepted`, async (t) => {
    const group = `${t.unique('t')}.kctl.test`;
    const openAPIV3Schema = { type: 'object', properties: { p: { type: 'string', pattern } } };
    await t.crd({
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    });
  });
