/** Random admission policies: a validating and a mutating one, which evaluate expressions over all kinds of the run. */
import type { Draft } from '../../harness/doc.js';
import type { Random } from '../random.js';

/** The user that the run itself works as where policies are not to apply. */
export const sparedUser = 'run-itself';

/** What one session has installed for a while. */
export interface PolicyMix {
  readonly validating: Draft;
  readonly validationActions: readonly string[];
  readonly mutating: Draft;
}

const maybe = (random: Random, probability: number, fields: () => object): object =>
  random.chance(probability) ? fields() : {};

/** Leaves alone what the run itself does, and what asks whether a webhook is in effect. */
export const spared: readonly Draft[] = [
  { name: 'spared-user', expression: `request.userInfo.username != "${sparedUser}"` },
  {
    name: 'spared-probe',
    expression: 'object == null || !has(object.metadata.labels) || !("ready" in object.metadata.labels)',
  },
];

const conditions: readonly string[] = [
  'request.operation != "DELETE"',
  'request.kind.kind == "ConfigMap" || request.resource.group.endsWith("kctl.test")',
  'object != null && has(object.spec)',
  'oldObject == null || oldObject.metadata.generation == 1',
  'object.metadata.?annotations["a"].orValue("0") != "1"',
  '!request.dryRun',
  '1 / (size(request.name) - 1) == 0',
];

const writes: readonly (readonly string[])[] = [['*'], ['CREATE'], ['UPDATE'], ['CREATE', 'UPDATE']];
const groups = ['', 'apps', 'coordination.k8s.io', 'wdiff.kctl.test', 'gdiff.kctl.test', 'ruled.kctl.test'];

function matchOf(random: Random, namespace: string, operations: readonly (readonly string[])[]): Draft {
  return {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    resourceRules: [
      {
        apiGroups: random.pick([groups, groups, ['', 'apps'], ['wdiff.kctl.test', 'gdiff.kctl.test']]),
        apiVersions: random.pick([['*'], ['*'], ['v1'], ['v2']]),
        operations: random.pick(operations),
        resources: random.pick([
          ['*'],
          ['*/*'],
          ['*', '*/status'],
          ['configmaps', 'widgets', 'gadgets', 'ruled'],
          ['*/scale', 'deployments', 'leases'],
        ]),
        scope: 'Namespaced',
        ...maybe(random, 0.2, () => ({ resourceNames: ['a', 'b'] })),
      },
    ],
    ...maybe(random, 0.3, () => ({ objectSelector: { matchExpressions: [{ key: 'l', operator: 'Exists' }] } })),
    ...maybe(random, 0.3, () => ({ matchPolicy: random.pick(['Exact', 'Equivalent']) })),
  };
}

const validations: readonly string[] = [
  'object == null || !has(object.metadata.labels) || object.metadata.labels.all(key, size(key) < 6)',
  'object.metadata.name != "c"',
  'oldObject == null || object == null || object.metadata.?labels == oldObject.metadata.?labels',
  'request.operation != "DELETE" || request.name != "b"',
  'has(object.spec)',
  'size(object.metadata.name) / (size(object.metadata.name) - 1) == 1',
  'namespaceObject.metadata.name.startsWith("diff") && namespaceObject.metadata.labels.size() == 1',
  'authorizer.group("").resource("secrets").namespace(request.namespace).check("get").allowed()',
  'object.spec.replicas <= 2',
  'variables.labels < 2',
  'variables.isFirst || request.subResource == "status"',
  'request.userInfo.username == "jane" || !("l" in object.metadata.?labels.orValue({}))',
  'object.metadata.generation != 3',
  'request.kind.kind != "Scale" || object.spec.replicas > 0',
  'object.metadata.name.matches("^[a-c]$") && request.resource.version == "v1"',
  'object.data.all(key, object.data[key] != "3")',
  'has(request.options) && (!has(request.options.fieldManager) || request.options.fieldManager.size() < 20)',
];

const variables: readonly Draft[] = [
  { name: 'labels', expression: 'object.metadata.?labels.orValue({}).size()' },
  { name: 'isFirst', expression: 'variables.labels == 0 || request.operation == "CREATE"' },
];

function validation(random: Random): Draft {
  return {
    expression: random.pick(validations),
    ...maybe(random, 0.4, () => ({ message: 'as the policy says' })),
    ...maybe(random, 0.3, () => ({
      messageExpression: random.pick([
        '"no " + request.kind.kind + " like " + request.name',
        '"generation " + string(object.metadata.generation)',
        'variables.labels > 5 ? "many" : ""',
      ]),
    })),
    ...maybe(random, 0.3, () => ({ reason: random.pick(['Forbidden', 'Invalid', 'RequestEntityTooLarge']) })),
  };
}

const configurations: readonly string[] = [
  'Object{metadata: Object.metadata{labels: {"policed": "yes"}}}',
  'Object{metadata: Object.metadata{annotations: {"kctl.test/n": string(size(object.metadata.name))}}}',
  'has(object.metadata.labels) ? Object{metadata: Object.metadata{labels: {"l": "b"}}} : Object{}',
  'Object{metadata: Object.metadata{labels: {"operation": request.operation.lowerAscii()}}}',
];

const patches: readonly string[] = [
  '[JSONPatch{op: "add", path: "/metadata/labels", value: {"l": "b"}}]',
  'has(object.metadata.labels) ? [JSONPatch{op: "remove", path: "/metadata/labels"}] : []',
  '[JSONPatch{op: "test", path: "/metadata/name", value: "a"}, JSONPatch{op: "add", path: "/metadata/annotations", value: {"a": "7"}}]',
  '[JSONPatch{op: "remove", path: "/metadata/annotations/a"}]',
];

function mutation(random: Random): Draft {
  return random.chance(0.6)
    ? { patchType: 'ApplyConfiguration', applyConfiguration: { expression: random.pick(configurations) } }
    : { patchType: 'JSONPatch', jsonPatch: { expression: random.pick(patches) } };
}

/** Of each type one: the order in which several of a type are evaluated is not defined. */
export function randomPolicies(random: Random, namespace: string): PolicyMix {
  const common = (operations: readonly (readonly string[])[]): Draft => ({
    failurePolicy: random.pick(['Fail', 'Fail', 'Ignore']),
    variables,
    matchConstraints: matchOf(random, namespace, operations),
    matchConditions: [
      ...(random.chance(0.4) ? [{ name: 'random', expression: random.pick(conditions) }] : []),
      ...spared,
    ],
  });
  const some = (make: (random: Random) => Draft): Draft[] =>
    Array.from({ length: 1 + random.below(2) }, () => make(random));
  return {
    validating: {
      ...common([...writes, ['DELETE'], ['CREATE', 'DELETE']]),
      validations: some(validation),
      ...maybe(random, 0.4, () => ({
        auditAnnotations: [{ key: 'note', valueExpression: '"l=" + object.?metadata.?labels["l"].orValue("none")' }],
      })),
    },
    validationActions: random.pick([['Deny'], ['Deny'], ['Warn'], ['Audit'], ['Deny', 'Audit'], ['Warn', 'Audit']]),
    mutating: {
      ...common(writes),
      reinvocationPolicy: random.pick(['Never', 'IfNeeded']),
      mutations: some(mutation),
    },
  };
}
