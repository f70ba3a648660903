/** Random webhook configurations, and what their webhooks answer: a function of the request alone. */
import type { Json } from '../../harness/doc.js';
import { allow, deny, mutate, type HookAnswer, type HookType, type Review } from '../../harness/hook.js';
import type { Random } from '../random.js';

/** A webhook of a configuration, and what it answers. */
export interface MixedHook {
  readonly type: HookType;
  /** Name of its configuration: of one type, configurations are called by name. */
  readonly configuration: string;
  /** First part of its name. */
  readonly name: string;
  /** Fields of its entry beside name, address and selector of the namespace. */
  readonly fields: Readonly<Record<string, unknown>>;
  answer(review: Review): HookAnswer;
  /** What it does, for the report of a difference. */
  readonly description: string;
}

type Named<T> = readonly [weight: number, choice: readonly [name: string, value: T]];
type Choice<T> = (random: Random) => T;

const maybe = (random: Random, probability: number, fields: () => object): object =>
  random.chance(probability) ? fields() : {};

const conditions: readonly string[] = [
  'request.operation != "DELETE"',
  'request.operation in ["CREATE", "UPDATE"]',
  'has(object.metadata.labels) && "l" in object.metadata.labels',
  'object.metadata.labels["l"] == "a"',
  'object == null || oldObject == null || object.metadata != oldObject.metadata',
  'request.kind.kind == "ConfigMap" || request.kind.kind == "Widget" || request.kind.kind == "Gadget"',
  '!request.dryRun',
  'request.resource.resource.startsWith("w") || request.namespace.startsWith("diff")',
  'object.metadata.?annotations["a"].orValue("0") != "1"',
  'size(object.spec) > 1',
  'oldObject.metadata.generation == 1',
  'request.options.kind == "CreateOptions" || has(request.subResource)',
  'authorizer.group("").resource("pods").namespace("x").check("get").allowed()',
  '1 / (size(request.name) - 1) == 0',
];

/** Leaves alone what the run itself puts away; a condition that fails is outvoted by one that is false. */
const spared = { name: 'spared', expression: '!has(request.name) || !request.name.startsWith("gen-")' };

function matchConditions(random: Random): object {
  return {
    matchConditions: [
      ...Array.from({ length: 1 + random.below(2) }, (_unused, index) => ({
        name: `c${index}`,
        expression: random.pick(conditions),
      })),
      spared,
    ],
  };
}

const selectors: readonly Record<string, unknown>[] = [
  { matchLabels: { l: 'a' } },
  { matchExpressions: [{ key: 'l', operator: 'In', values: ['a', 'b'] }] },
  { matchExpressions: [{ key: 'l', operator: 'NotIn', values: ['a'] }] },
  { matchExpressions: [{ key: 'kctl.test/tier', operator: 'Exists' }] },
  { matchExpressions: [{ key: 'hooked', operator: 'DoesNotExist' }] },
  { matchLabels: { l: 'b' }, matchExpressions: [{ key: 'kctl.test/tier', operator: 'DoesNotExist' }] },
];

/** A selector that in any case leaves out probes and what the run itself makes. */
function objectSelector(random: Random): object {
  const own: Json = random.chance(0.3) ? random.pick(selectors) : {};
  const ready = { key: 'ready', operator: 'DoesNotExist' };
  return { ...own, matchExpressions: [...(own.matchExpressions ?? []), ready] };
}

/** All groups of the run; others have cluster-scoped objects that the servers write themselves, for all sessions. */
const allGroups = ['', 'apps', 'coordination.k8s.io', 'wdiff.kctl.test', 'gdiff.kctl.test'];

function rules(random: Random): object[] {
  const groups = random.pick([
    allGroups,
    allGroups,
    ['', 'apps'],
    ['wdiff.kctl.test', 'gdiff.kctl.test'],
    ['gdiff.kctl.test'],
  ]);
  const resources = random.pick([
    ['*'],
    ['*'],
    ['*/*'],
    ['configmaps', 'widgets', 'gadgets'],
    ['pods', 'deployments', 'secrets'],
    ['widgets', 'widgets/status', 'widgets/scale', 'deployments/scale'],
    ['*/status'],
    ['*', '*/scale'],
    ['services', 'leases', 'gadgets/status', 'gadgets'],
  ]);
  const operations = random.pick([
    ['*'],
    ['CREATE'],
    ['UPDATE'],
    ['DELETE'],
    ['CREATE', 'UPDATE'],
    ['UPDATE', 'DELETE'],
  ]);
  const first = {
    apiGroups: groups,
    apiVersions: random.pick([['*'], ['*'], ['v1'], ['v2'], ['v1', 'v2']]),
    operations,
    resources,
    scope: random.pick(['*', '*', '*', 'Namespaced', 'Cluster']),
  };
  if (random.chance(0.7)) return [first];
  return [first, { apiGroups: allGroups, apiVersions: ['*'], operations: ['DELETE'], resources: ['*'] }];
}

type Predicate = (request: Json) => boolean;
const labelOf = (request: Json, key: string): unknown => (request.object ?? request.oldObject)?.metadata?.labels?.[key];

const whens: readonly Named<Predicate>[] = [
  [3, ['always', () => true]],
  [2, ['where l=a', (request) => labelOf(request, 'l') === 'a']],
  [1, ['on DELETE', (request) => request.operation === 'DELETE']],
  [1, ['on CREATE', (request) => request.operation === 'CREATE']],
  [1, ['on a dry run', (request) => request.dryRun === true]],
  [1, ['where there is no label', (request) => request.object?.metadata?.labels === undefined]],
];

/** Operations that put a value under a key of `metadata.labels` or `metadata.annotations`. */
function put(object: Json, map: 'labels' | 'annotations', key: string, value: string): object[] {
  const path = `/metadata/${map}`;
  if (object?.metadata?.[map] === undefined) return [{ op: 'add', path, value: { [key]: value } }];
  return [{ op: 'add', path: `${path}/${key.replace('/', '~1')}`, value }];
}

const patches: readonly Named<(object: Json) => unknown>[] = [
  [5, ['labels', (object) => put(object, 'labels', 'hooked', 'yes')]],
  [
    4,
    [
      'counts to 3',
      (object) => {
        const count = Number(object?.metadata?.annotations?.['kctl.test/count'] ?? 0);
        return count >= 3 ? [] : put(object, 'annotations', 'kctl.test/count', String(count + 1));
      },
    ],
  ],
  [
    2,
    [
      'takes the label l',
      (object) => (object?.metadata?.labels?.l === undefined ? [] : [{ op: 'remove', path: '/metadata/labels/l' }]),
    ],
  ],
  [
    1,
    [
      'adds a finalizer',
      (object) => [
        {
          op: 'add',
          path: '/metadata/finalizers',
          value: [
            ...(object?.metadata?.finalizers ?? []).filter((one: string) => one !== 'kctl.test/h'),
            'kctl.test/h',
          ],
        },
      ],
    ],
  ],
  [2, ['sets data', () => [{ op: 'add', path: '/data', value: { a: 'MQ==' } }]]],
  [2, ['sets the size', () => [{ op: 'replace', path: '/spec/size', value: 2 }]]],
  [1, ['sets a size that is not valid', () => [{ op: 'add', path: '/spec/size', value: 'x' }]]],
  [1, ['sets replicas', () => [{ op: 'add', path: '/spec/replicas', value: 2 }]]],
  [1, ['adds an unknown field', () => [{ op: 'add', path: '/spec/bogus', value: { x: 1 } }]]],
  [1, ['removes what is not there', () => [{ op: 'remove', path: '/nope' }]]],
  [1, ['tests in vain', () => [{ op: 'test', path: '/metadata/name', value: 'zz' }]]],
  [1, ['renames', () => [{ op: 'replace', path: '/metadata/name', value: 'zz' }]]],
  [
    1,
    [
      'sets labels to a text',
      (object) => (object?.kind === 'Gadget' ? [] : [{ op: 'add', path: '/metadata/labels', value: 'x' }]),
    ],
  ],
  [1, ['sets a label that is not valid', (object) => put(object, 'labels', 'bad', 'not ok!')]],
  [1, ['removes the namespace', () => [{ op: 'remove', path: '/metadata/namespace' }]]],
  [1, ['changes nothing', () => []]],
  [0.5, ['is null', () => 'null']],
  [0.5, ['is an object', () => ({ op: 'add' })]],
  [0.5, ['is cut', () => '[{"op":']],
  [0.5, ['has an unknown operation', () => [{ op: 'zip', path: '/metadata/labels' }]]],
];

type Answering = (review: Review) => HookAnswer;

const failures: readonly Named<HookAnswer>[] = [
  [2, ['answers 500', { status: 500, body: 'oops' }]],
  [1, ['answers 404', { status: 404, body: 'none' }]],
  [1, ['answers no JSON', { body: 'oops' }]],
  [1, ['answers another uid', { response: { uid: 'x', allowed: true } }]],
  [1, ['answers nothing', { body: '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}' }]],
  [1, ['patches without a type', { response: { allowed: true, patch: 'W10=' } }]],
  [0.15, ['hangs', 'hang']],
];

const denials: readonly Named<HookAnswer>[] = [
  [2, ['denies', deny()]],
  [2, ['denies with a message', deny({ message: 'no' })]],
  [
    2,
    [
      'denies with causes and a warning',
      deny(
        {
          code: 422,
          reason: 'Invalid',
          message: 'no',
          details: { name: 'n', causes: [{ reason: 'FieldValueInvalid', field: 'spec', message: 'bad' }] },
        },
        { warnings: ['careful'], auditAnnotations: { why: 'because' } },
      ),
    ],
  ],
  [1, ['denies with a reason', deny({ reason: 'Teapot', code: 418 })]],
  [1, ['denies with success', deny({ status: 'Success', code: 200, message: 'fine' })]],
];

const extras: Choice<Record<string, unknown>> = (random) => ({
  ...maybe(random, 0.25, () => ({
    warnings: random.pick([['w1'], ['w1', 'w2'], ['"quoted" \u00e9', 'x'.repeat(200)]]),
  })),
  ...maybe(random, 0.25, () => ({ auditAnnotations: { seen: String(random.below(9)) } })),
});

/** `{ description, answer }` of a webhook that mostly does something else than to allow. */
function behaviour(random: Random, type: HookType, isHarmless: boolean): Pick<MixedHook, 'answer' | 'description'> {
  const quiet = isHarmless ? {} : extras(random);
  const pass = allow(quiet);
  const shown = JSON.stringify(quiet);
  const only = (what: string, act: Answering): Pick<MixedHook, 'answer' | 'description'> => {
    const [when, applies] = random.weighted(whens);
    return {
      description: `${what} ${when}, else allows ${shown}`,
      answer: (review) => (applies(review.request) ? act(review) : pass),
    };
  };
  const kind = isHarmless
    ? 'allow'
    : random.weighted([
        [2, 'allow'],
        [type === 'Mutating' ? 7 : 0.5, 'patch'],
        [2, 'deny'],
        [1, 'fail'],
      ] as const);
  switch (kind) {
    case 'allow':
      return { description: `allows ${shown}`, answer: () => pass };
    case 'deny': {
      const [what, answer] = random.weighted(denials);
      return only(what, () => answer);
    }
    case 'fail': {
      const [what, answer] = random.weighted(failures);
      return only(what, () => answer);
    }
    case 'patch': {
      const [what, patch] = random.weighted(patches);
      return only(`patches (${what})`, ({ request }) => mutate(patch(request.object), quiet));
    }
  }
}

function hook(
  random: Random,
  type: HookType,
  { index, isHarmless }: { index: number; isHarmless: boolean },
): Omit<MixedHook, 'configuration'> {
  const name = `${type === 'Mutating' ? 'm' : 'v'}${index}`;
  const { description, answer } = behaviour(random, type, isHarmless);
  const fields = {
    rules: rules(random),
    objectSelector: objectSelector(random),
    // Long enough that no webhook that answers is late on a busy machine.
    timeoutSeconds: 8 + random.below(2),
    ...maybe(random, 0.35, () => ({ failurePolicy: random.pick(['Ignore', 'Ignore', 'Fail']) })),
    ...maybe(random, 0.4, () => ({ matchPolicy: random.pick(['Exact', 'Equivalent']) })),
    ...maybe(random, 0.3, () => ({ sideEffects: 'NoneOnDryRun' })),
    ...maybe(random, 0.3, () => ({
      admissionReviewVersions: random.pick([['v1beta1'], ['v1beta1', 'v1'], ['v9', 'v1']]),
    })),
    ...maybe(random, 0.35, () => matchConditions(random)),
    ...(type === 'Mutating' && random.chance(0.5)
      ? { reinvocationPolicy: random.pick(['IfNeeded', 'IfNeeded', 'Never']) }
      : {}),
  };
  return { type, name, fields, description: `${name} ${description}`, answer };
}

/** What one session has installed for a while: up to four mutating webhooks in two configurations, and two validating. */
export function randomMix(random: Random, prefix: string): readonly MixedHook[] {
  const mutating = Array.from({ length: random.below(5) }, (_unused, index) => ({
    ...hook(random, 'Mutating', { index, isHarmless: false }),
    configuration: `${prefix}-${index < 2 ? 'b' : 'c'}`,
  }));
  // Validating webhooks are called at once: the order in which two of them refuse or warn is that of their answers.
  const validating = Array.from({ length: random.below(3) }, (_unused, index) => ({
    ...hook(random, 'Validating', { index, isHarmless: index > 0 }),
    configuration: `${prefix}-b`,
  }));
  return [...mutating, ...validating];
}
