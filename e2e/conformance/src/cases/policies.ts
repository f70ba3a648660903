/** §2.11, statement 69: ValidatingAdmissionPolicy and MutatingAdmissionPolicy. */
import type { Context } from '../harness/context.js';
import { MERGE_PATCH } from '../harness/context.js';
import type { Draft, Json } from '../harness/doc.js';
import { created, failure, ok, same } from '../harness/expect.js';
import type { Answer } from '../harness/http.js';
import { spec } from '../harness/spec.js';

const API = '/apis/admissionregistration.k8s.io/v1';
type Mode = 'Validating' | 'Mutating';

const configMaps = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: ['configmaps'],
};

interface Policies {
  readonly ns: string;
  readonly path: string;
  config(name: string, fields?: object): Draft;
  post(name: string, fields?: object): Promise<Answer>;
  /** Makes a policy and a binding of it that are about one namespace only. */
  add(mode: Mode, policy: Draft, binding?: Draft): Promise<string>;
  /** Waits until a policy has an effect on writes. */
  until(isDone: (answer: Answer) => boolean, fields?: object): Promise<Answer>;
}

async function policies(t: Context): Promise<Policies> {
  const ns = await t.namespace();
  const path = `/api/v1/namespaces/${ns}/configmaps`;
  const config = (name: string, fields: object = {}): Draft => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    ...fields,
  });
  return {
    ns,
    path,
    config,
    post: (name, fields) => t.post(path, config(name, fields)),
    add: async (mode, policy, binding = {}) => {
      const name = t.unique('policy');
      const kind = `${mode}AdmissionPolicy`;
      const plural = `${mode.toLowerCase()}admissionpolicies`;
      const here = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns } } };
      created(
        await t.post(`${API}/${plural}`, {
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind,
          metadata: { name },
          spec: {
            failurePolicy: 'Fail',
            ...(mode === 'Mutating' && { reinvocationPolicy: 'Never' }),
            matchConstraints: { ...here, resourceRules: [configMaps] },
            ...policy,
          },
        }),
      );
      t.defer(() => t.send('DELETE', `${API}/${plural}/${name}`));
      const bindings = plural.replace('policies', 'policybindings');
      created(
        await t.post(`${API}/${bindings}`, {
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind: `${kind}Binding`,
          metadata: { name },
          spec: {
            policyName: name,
            ...(mode === 'Validating' && { validationActions: ['Deny'] }),
            matchResources: here,
            ...binding,
          },
        }),
      );
      t.defer(() => t.send('DELETE', `${API}/${bindings}/${name}`));
      return name;
    },
    until: (isDone, fields) =>
      t.eventually(() => t.post(`${path}?dryRun=All`, config(t.unique('probe'), fields)), isDone, {
        what: 'the policy',
      }),
  };
}

const isDenied = ({ status }: Answer): boolean => status >= 400;

const denial = (policy: string, name: string, why: string, more: { code?: number; reason?: string } = {}) => {
  const message = `ValidatingAdmissionPolicy '${policy}' with binding '${policy}' denied request: ${why}`;
  const { code = 422, reason = 'Invalid' } = more;
  return {
    code,
    reason,
    message: `configmaps ${JSON.stringify(name)} is forbidden: ${message}`,
    details: { name, kind: 'configmaps' },
  };
};

const bad = { data: { a: 'bad' } };
const good = { data: { a: 'good' } };
const notBad = { expression: '!has(object.data) || object.data.a != "bad"' };

const validations: [title: string, spec: Draft, why: string, more?: { code?: number; reason?: string }][] = [
  ['no message', { validations: [notBad] }, `failed expression: ${notBad.expression}`],
  ['a message', { validations: [{ ...notBad, message: 'a is bad' }] }, 'a is bad'],
  [
    'messageExpression',
    { validations: [{ ...notBad, messageExpression: '"a is " + object.data.a + " in " + request.kind.kind' }] },
    'a is bad in ConfigMap',
  ],
  [
    'reason Forbidden',
    { validations: [{ ...notBad, message: 'm', reason: 'Forbidden' }] },
    'm',
    { code: 403, reason: 'Forbidden' },
  ],
  [
    'reason RequestEntityTooLarge',
    { validations: [{ ...notBad, message: 'm', reason: 'RequestEntityTooLarge' }] },
    'm',
    { code: 413, reason: 'RequestEntityTooLarge' },
  ],
  [
    'variables',
    {
      variables: [
        { name: 'a', expression: 'object.?data.?a.orValue("")' },
        { name: 'isBad', expression: 'variables.a == "bad"' },
      ],
      validations: [{ expression: '!variables.isBad', message: 'm' }],
    },
    'm',
  ],
  [
    'request, namespaceObject and authorizer',
    {
      validations: [
        {
          expression:
            'object.?data.?a.orValue("") != "bad" || request.operation != "CREATE" || namespaceObject.metadata.labels["kubernetes.io/metadata.name"] != request.namespace || !authorizer.group("").resource("configmaps").namespace(request.namespace).check("create").allowed()',
          message: 'm',
        },
      ],
    },
    'm',
  ],
  [
    'matchConditions',
    {
      matchConditions: [{ name: 'only-bad', expression: 'object.?data.?a.orValue("") == "bad"' }],
      validations: [{ expression: 'false', message: 'm' }],
    },
    'm',
  ],
  [
    'an error of evaluation',
    { validations: [{ expression: 'object.?data.?a.orValue("") != "bad" || object.data.nope == ""' }] },
    `expression 'object.?data.?a.orValue("") != "bad" || object.data.nope == ""' resulted in error: no such key: nope`,
  ],
  [
    'an error of a condition',
    {
      matchConditions: [
        { name: 'c', expression: 'object.?data.?a.orValue("") == "bad" ? object.data.nope == "" : false' },
      ],
      validations: [{ expression: 'true' }],
    },
    `expression 'object.?data.?a.orValue("") == "bad" ? object.data.nope == "" : false' resulted in error: no such key: nope`,
  ],
];

for (const [title, policy, why, more] of validations) {
  spec(69, `a validating policy: ${title}`, async (t) => {
    const { add, until, post } = await policies(t);
    const name = await add('Validating', policy);
    await until(isDenied, bad);
    const body = failure(await post('x', bad), denial(name, 'x', why, more));
    same(
      body.details.causes,
      [{ message: `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: ${why}` }],
      'causes',
    );
    created(await post('x', good));
  });
}

spec(69, 'a validating policy: updates, with the old object', async (t) => {
  const { add, until, post, path } = await policies(t);
  created(await post('x', { data: { a: '1' } }));
  const name = await add('Validating', {
    validations: [
      { expression: 'request.operation != "UPDATE" || object.data.a == oldObject.data.a', message: 'fixed' },
      { expression: '!has(object.data) || object.data.a != "bad"' },
    ],
  });
  await until(isDenied, bad);
  failure(await t.patch(`${path}/x`, MERGE_PATCH, { data: { a: '2' } }), denial(name, 'x', 'fixed'));
  ok(await t.patch(`${path}/x`, MERGE_PATCH, { data: { b: '2' } }));
});

spec(69, 'a validating policy: deletions', async (t) => {
  const { add, ns, path, post, until } = await policies(t);
  created(await post('x', bad));
  const name = await add('Validating', {
    matchConstraints: {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns } },
      resourceRules: [{ ...configMaps, operations: ['CREATE', 'DELETE'] }],
    },
    validations: [
      { expression: 'object == null ? oldObject.data.a != "bad" : object.data.a != "worse"', message: 'm' },
    ],
  });
  await until(isDenied, { data: { a: 'worse' } });
  failure(await t.send('DELETE', `${path}/x`), denial(name, 'x', 'm'));
  ok(await t.patch(`${path}/x`, MERGE_PATCH, { data: { a: 'fine' } }));
  ok(await t.send('DELETE', `${path}/x`));
});

spec(69, 'a validating policy: actions Warn and Audit let the write through', async (t) => {
  const { add, until, post } = await policies(t);
  const name = await add(
    'Validating',
    { validations: [{ ...notBad, message: 'm' }] },
    { validationActions: ['Warn', 'Audit'] },
  );
  const warning = `Validation failed for ValidatingAdmissionPolicy '${name}' with binding '${name}': m`;
  await until(({ warnings }) => warnings.includes(warning), bad);
  const answer = await post('x', bad);
  created(answer);
  same(answer.warnings, [warning], 'warnings');
});

spec(69, 'a validating policy: failurePolicy Ignore passes over errors and not over refusals', async (t) => {
  const { add, until, post } = await policies(t);
  await add('Validating', {
    failurePolicy: 'Ignore',
    validations: [{ expression: 'object.data.nope == ""' }, { expression: 'object.data.a != "worse"', message: 'm' }],
  });
  await until(isDenied, { data: { a: 'worse' } });
  created(await post('x', bad));
});

spec(69, 'a validating policy: parameters by name and by selector', async (t) => {
  const { add, until, post, config, path, ns } = await policies(t);
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  created(
    await t.post(path, {
      ...config('limits', { data: { max: '3' } }),
      metadata: { name: 'limits', labels: { for: 'policy' } },
    }),
  );
  const policy = {
    paramKind,
    validations: [
      {
        expression: '!has(object.data) || !has(object.data.n) || int(object.data.n) <= int(params.data.max)',
        messageExpression: '"more than " + params.data.max',
      },
    ],
  };
  const name = await add('Validating', policy, {
    paramRef: { name: 'limits', namespace: ns, parameterNotFoundAction: 'Deny' },
  });
  await until(isDenied, { data: { n: '9' } });
  failure(await post('x', { data: { n: '9' } }), denial(name, 'x', 'more than 3'));
  created(await post('x', { data: { n: '2' } }));
  const second = await policies(t);
  created(
    await t.post(second.path, {
      ...config('a', { data: { max: '5' } }),
      metadata: { name: 'a', labels: { for: 'policy' } },
    }),
  );
  const selected = await second.add('Validating', policy, {
    paramRef: { selector: { matchLabels: { for: 'policy' } }, parameterNotFoundAction: 'Deny' },
  });
  await second.until(isDenied, { data: { n: '9' } });
  failure(await second.post('x', { data: { n: '9' } }), denial(selected, 'x', 'more than 5'));
});

spec(69, 'a validating policy: parameters that are not there', async (t) => {
  const { add, until, post, ns } = await policies(t);
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const validate = { paramKind, validations: [{ expression: 'params == null' }] };
  const name = await add('Validating', validate, {
    paramRef: { name: 'none', namespace: ns, parameterNotFoundAction: 'Deny' },
  });
  await until(isDenied);
  failure(
    await post('x'),
    denial(
      name,
      'x',
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    ),
  );
  const second = await policies(t);
  await second.add('Validating', { paramKind, validations: [{ expression: 'object.data.a != "bad"' }] });
  await second.until(isDenied, bad);
  created(await second.post('x', good));
});

spec(69, 'a validating policy: excluded resources and names', async (t) => {
  const { add, until, post, ns } = await policies(t);
  await add('Validating', {
    matchConstraints: {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns } },
      resourceRules: [configMaps],
      excludeResourceRules: [{ ...configMaps, resourceNames: ['spared'] }],
    },
    validations: [{ expression: 'false', message: 'm' }],
  });
  await until(isDenied);
  created(await post('spared'));
});

const labelled = 'Object{metadata: Object.metadata{labels: {"touched": "yes"}}}';

spec(69, 'a mutating policy: ApplyConfiguration merges', async (t) => {
  const { add, until, post } = await policies(t);
  await add('Mutating', {
    mutations: [
      {
        patchType: 'ApplyConfiguration',
        applyConfiguration: {
          expression:
            'Object{metadata: Object.metadata{labels: {"touched": "yes"}}, data: {"b": "from-" + object.?data.?a.orValue("none")}}',
        },
      },
    ],
  });
  await until(({ body }) => body.metadata?.labels?.['touched'] === 'yes');
  const made = created(await post('x', { data: { a: '1' } }));
  same([made.metadata.labels, made.data], [{ touched: 'yes' }, { a: '1', b: 'from-1' }], 'object');
});

spec(69, 'a mutating policy: ApplyConfiguration merges lists by their keys', async (t) => {
  const { add, ns } = await policies(t);
  await add('Mutating', {
    matchConstraints: {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns } },
      resourceRules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }],
    },
    mutations: [
      {
        patchType: 'ApplyConfiguration',
        applyConfiguration: {
          expression:
            'Object{spec: Object.spec{replicas: 3, template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "side", image: "s:1"}]}}}}',
        },
      },
    ],
  });
  const labels = { app: 'x' };
  const deployment = (name: string): Draft => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'm:1' }] } },
    },
  });
  const path = `/apis/apps/v1/namespaces/${ns}/deployments`;
  await t.eventually(
    () => t.post(`${path}?dryRun=All`, deployment('probe')),
    ({ body }) => body.spec?.replicas === 3,
    { what: 'the policy' },
  );
  const made = created(await t.post(path, deployment('x')));
  const containers = (made.spec.template.spec.containers as Json[]).map(({ name, image, imagePullPolicy }) => [
    name,
    image,
    imagePullPolicy,
  ]);
  same(
    [made.spec.replicas, containers],
    [
      3,
      [
        ['main', 'm:1', 'IfNotPresent'],
        ['side', 's:1', 'IfNotPresent'],
      ],
    ],
    'spec',
  );
});

spec(69, 'a mutating policy: JSONPatch', async (t) => {
  const { add, until, post } = await policies(t);
  await add('Mutating', {
    mutations: [
      {
        patchType: 'JSONPatch',
        jsonPatch: {
          expression:
            '!has(object.metadata.annotations) ? [JSONPatch{op: "add", path: "/metadata/annotations", value: {}}, JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey("a.b/c"), value: "x"}] : [JSONPatch{op: "test", path: "/data/a", value: "1"}, JSONPatch{op: "replace", path: "/data/a", value: "2"}]',
        },
      },
    ],
  });
  await until(({ body }) => body.metadata?.annotations !== undefined);
  same(created(await post('x')).metadata.annotations, { 'a.b/c': 'x' }, 'annotations');
  const annotated = (name: string, a: string): Draft => ({ metadata: { name, annotations: { k: 'v' } }, data: { a } });
  same(created(await post('y', annotated('y', '1'))).data, { a: '2' }, 'a test that holds');
  same(created(await post('z', annotated('z', '7'))).data, { a: '7' }, 'a test that does not');
});

const mutated = (policy: string, why: string | RegExp) => ({
  code: 403,
  reason: 'Invalid',
  message: typeof why === 'string' ? `policy '${policy}' with binding '${policy}' denied request: ${why}` : why,
});

const failing: [title: string, mutation: Draft, why: string][] = [
  [
    'an error of evaluation',
    {
      patchType: 'ApplyConfiguration',
      applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"a": object.data.nope}}}' },
    },
    `expression 'Object{metadata: Object.metadata{labels: {"a": object.data.nope}}}' resulted in error: no such key: nope`,
  ],
  [
    'a patch that does not apply',
    { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/data/nope"}]' } },
    "JSON Patch: error in remove for path: '/data/nope': Unable to remove nonexistent key: nope: missing value",
  ],
  [
    'a type name in the wrong place',
    {
      patchType: 'ApplyConfiguration',
      applyConfiguration: { expression: 'Object{metadata: Object.spec{labels: {"a": "b"}}}' },
    },
    'type mismatch: unexpected type name "Object.spec", expected "Object.metadata", which matches field name path from root Object type',
  ],
];

for (const [title, mutation, why] of failing) {
  spec(69, `a mutating policy: ${title} refuses the write with 403`, async (t) => {
    const { add, until, post } = await policies(t);
    const name = await add('Mutating', { mutations: [mutation] });
    await until(isDenied, good);
    const body = failure(await post('x', good), mutated(name, why));
    same(
      body.details.causes,
      [{ message: `policy '${name}' with binding '${name}' denied request: ${why}` }],
      'causes',
    );
  });
}

spec(69, 'a mutating policy: failurePolicy Ignore, matchConditions and variables', async (t) => {
  const { add, until, post } = await policies(t);
  await add('Mutating', {
    failurePolicy: 'Ignore',
    matchConditions: [{ name: 'c', expression: 'object.?data.?a.orValue("") != "skip"' }],
    variables: [{ name: 'v', expression: 'object.data.a' }],
    mutations: [
      { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{data: {"b": variables.v}}' } },
    ],
  });
  await until(({ body }) => body.data?.['b'] === 'good', good);
  same(created(await post('x', { data: { a: 'skip' } })).data, { a: 'skip' }, 'a condition that does not hold');
  created(await post('y'));
});

spec(69, 'mutating policies: the first is invoked again after the second where it asks for that', async (t) => {
  const { add, until, post } = await policies(t);
  const first = (expression: string): Draft => ({
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
  });
  await add('Mutating', {
    ...first('Object{metadata: Object.metadata{labels: {"seen": object.?data.?late.orValue("no")}}}'),
    reinvocationPolicy: 'IfNeeded',
  });
  await add('Mutating', first('Object{data: {"late": "yes"}}'));
  await until(({ body }) => body.data?.['late'] === 'yes' && body.metadata?.labels?.['seen'] !== undefined);
  same(created(await post('x')).metadata.labels, { seen: 'yes' }, 'labels');
});

spec(69, 'mutating policies come before validating ones', async (t) => {
  const { add, until, post } = await policies(t);
  await add('Mutating', {
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: labelled } }],
  });
  await until(({ body }) => body.metadata?.labels?.['touched'] === 'yes');
  const name = await add('Validating', {
    validations: [{ expression: 'object.metadata.labels.touched != "yes"', message: 'm' }],
  });
  await until(isDenied);
  failure(await post('x'), denial(name, 'x', 'm'));
});

const rules = [configMaps];
const validating = (more: Draft): Draft => ({
  matchConstraints: { resourceRules: rules },
  validations: [{ expression: 'true' }],
  ...more,
});
const mutating = (more: Draft): Draft => ({
  matchConstraints: { resourceRules: rules },
  reinvocationPolicy: 'Never',
  mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: labelled } }],
  ...more,
});

type Cause = { reason: string; field: string; message: string | RegExp };

const refusedPolicies: [title: string, kind: string, plural: string, spec: Draft, causes: Cause[]][] = [
  [
    'an expression that does not compile',
    'ValidatingAdmissionPolicy',
    'validatingadmissionpolicies',
    validating({ validations: [{ expression: 'request.nope == ""', messageExpression: '1' }] }),
    [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.validations[0].expression',
        message: `Invalid value: "request.nope == \\"\\"": compilation failed: ERROR: <input>:1:8: undefined field 'nope'\n | request.nope == ""\n | .......^`,
      },
      {
        reason: 'FieldValueInvalid',
        field: 'spec.validations[0].messageExpression',
        message: 'Invalid value: "1": must evaluate to string but got int',
      },
    ],
  ],
  [
    'an expression of type dyn',
    'ValidatingAdmissionPolicy',
    'validatingadmissionpolicies',
    validating({ validations: [{ expression: 'object.on' }] }),
    [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.validations[0].expression',
        message: 'Invalid value: "object.on": must evaluate to bool but got dyn',
      },
    ],
  ],
  [
    'variables and conditions',
    'ValidatingAdmissionPolicy',
    'validatingadmissionpolicies',
    validating({
      variables: [
        { name: 'a-b', expression: 'true' },
        { name: 'n', expression: '1' },
      ],
      matchConditions: [{ name: 'c', expression: '1' }],
      validations: [{ expression: 'variables.n == "x"' }, { expression: 'variables.zz' }],
    }),
    [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.matchConditions[0].expression',
        message: 'Invalid value: "1": must evaluate to bool but got int',
      },
      {
        reason: 'FieldValueInvalid',
        field: 'spec.variables[0].name',
        message: 'Invalid value: "a-b": must be a valid CEL identifier',
      },
      {
        reason: 'FieldValueInvalid',
        field: 'spec.validations[0].expression',
        message: /found no matching overload for '_==_' applied to '\(int, string\)'/,
      },
      { reason: 'FieldValueInvalid', field: 'spec.validations[1].expression', message: /undefined field 'zz'/ },
    ],
  ],
  [
    'nothing to do',
    'ValidatingAdmissionPolicy',
    'validatingadmissionpolicies',
    validating({ validations: [], matchConstraints: {} }),
    [
      { reason: 'FieldValueRequired', field: 'spec.matchConstraints.resourceRules', message: 'Required value' },
      {
        reason: 'FieldValueRequired',
        field: 'spec.validations',
        message: 'Required value: validations or auditAnnotations must contain at least one item',
      },
      {
        reason: 'FieldValueRequired',
        field: 'spec.auditAnnotations',
        message: 'Required value: validations or auditAnnotations must contain at least one item',
      },
    ],
  ],
  [
    'a mutation of another type',
    'MutatingAdmissionPolicy',
    'mutatingadmissionpolicies',
    mutating({
      mutations: [
        { patchType: 'ApplyConfiguration', applyConfiguration: { expression: '"x"' } },
        { patchType: 'JSONPatch', jsonPatch: { expression: '[1]' } },
        { patchType: 'JSONPatch', applyConfiguration: { expression: labelled } },
      ],
    }),
    [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.mutations[0].applyConfiguration.expression',
        message: 'Invalid value: "\\"x\\"": must evaluate to Object but got string',
      },
      {
        reason: 'FieldValueInvalid',
        field: 'spec.mutations[1].jsonPatch.expression',
        message: 'Invalid value: "[1]": must evaluate to list(JSONPatch) but got list(int)',
      },
      {
        reason: 'FieldValueRequired',
        field: 'spec.mutations[2].jsonPatch',
        message: 'Required value: must be specified when patchType is JSONPatch',
      },
      {
        reason: 'FieldValueInvalid',
        field: 'spec.mutations[2].applyConfiguration',
        message: 'Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
      },
    ],
  ],
  [
    'a mutation of deletions',
    'MutatingAdmissionPolicy',
    'mutatingadmissionpolicies',
    mutating({ matchConstraints: { resourceRules: [{ ...configMaps, operations: ['DELETE'] }] } }),
    [
      {
        reason: 'FieldValueNotSupported',
        field: 'spec.matchConstraints.resourceRules.operations',
        message: 'Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
      },
    ],
  ],
  [
    'a binding with actions that repeat each other',
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
    { policyName: 'p', validationActions: ['Deny', 'Warn'], paramRef: { name: 'x', selector: {} } },
    [
      {
        reason: 'FieldValueForbidden',
        field: 'spec.paramRef.name',
        message: 'Forbidden: name and selector are mutually exclusive',
      },
      {
        reason: 'FieldValueForbidden',
        field: 'spec.paramRef.selector',
        message: 'Forbidden: name and selector are mutually exclusive',
      },
      { reason: 'FieldValueRequired', field: 'spec.paramRef.parameterNotFoundAction', message: 'Required value' },
      { reason: 'FieldValueInvalid', field: 'spec.validationActions', message: /must not contain both Deny and Warn/ },
    ],
  ],
];

for (const [title, kind, plural, policy, causes] of refusedPolicies) {
  spec(69, `a policy is refused: ${title}`, async (t) => {
    const name = t.unique('policy');
    const body = { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name }, spec: policy };
    failure(await t.post(`${API}/${plural}`, body), { code: 422, reason: 'Invalid', causes });
  });
}

spec(69, 'a mutating policy: deletions are none of its business', async (t) => {
  const { add, until, post, path } = await policies(t);
  const all = { ...configMaps, operations: ['*'] };
  await add('Mutating', {
    matchConstraints: { resourceRules: [all] },
    matchConditions: [{ name: 'fails', expression: '1 / size(request.name) > 100 || request.operation == "DELETE"' }],
    mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/data/nope"}]' } }],
  });
  await add('Mutating', {
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: labelled } }],
  });
  await until(({ body }) => body.metadata?.labels?.['touched'] === 'yes');
  created(await post('x'));
  ok(await t.delete(`${path}/x`));
});

spec(69, 'a mutating policy that alone has changed the object is evaluated once more', async (t) => {
  const { add, until, post } = await policies(t);
  const name = await add('Mutating', {
    reinvocationPolicy: 'IfNeeded',
    mutations: [
      {
        patchType: 'JSONPatch',
        jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/metadata/annotations/a"}]' },
      },
    ],
  });
  await until(isDenied);
  const why =
    "JSON Patch: error in remove for path: '/metadata/annotations/a': Unable to remove nonexistent key: a: missing value";
  const denied = await post('x', { metadata: { name: 'x', annotations: { a: '1', b: '2' } } });
  failure(denied, mutated(name, why));
});

spec(69, 'a mutating policy: what is no object of its type has nothing applied to it', async (t) => {
  const { add, ns } = await policies(t);
  const widgets = await t.widgets();
  const rule = { apiGroups: [widgets.group, 'apps'], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'] };
  const here = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns } } };
  const name = await add('Mutating', {
    matchConstraints: { ...here, resourceRules: [{ ...rule, resources: ['*/*'] }] },
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: labelled } }],
  });
  const draft = (own: string, spec: object): Draft => ({
    apiVersion: widgets.apiVersion,
    kind: 'Widget',
    metadata: { name: own },
    spec,
  });
  await t.eventually(
    () => t.post(`${widgets.path(ns)}?dryRun=All`, draft('probe', { size: 1 })),
    ({ body }) => body.metadata?.labels?.['touched'] === 'yes',
    { what: 'the policy' },
  );
  failure(
    await t.post(widgets.path(ns), draft('x', { size: 'four' })),
    mutated(
      name,
      'error applying patch: failed to convert original object to typed object: .spec.size: expected numeric (int or float), got string',
    ),
  );
  created(await t.post(widgets.path(ns), draft('y', { size: 4, replicas: 1 })));
  const scale = (): Promise<Answer> => t.patch(widgets.path(ns, 'y', 'scale'), MERGE_PATCH, { spec: { replicas: 2 } });
  failure(
    await scale(),
    mutated(
      name,
      'error applying patch: failed to convert patch object to typed object: no corresponding type for autoscaling/v1, Kind=Scale',
    ),
  );
});

spec(69, 'a refused object that is deleted with others has no name', async (t) => {
  const { add, until, path } = await policies(t);
  const all = { ...configMaps, operations: ['CREATE', 'DELETE'] };
  created(await t.post(path, { metadata: { name: 'x' } }));
  const policy = await add('Validating', {
    matchConstraints: { resourceRules: [all] },
    validations: [{ expression: 'false && 1 < 2', message: 'm' }],
  });
  await until(isDenied);
  failure(await t.send('DELETE', path), denial(policy, 'Unknown', 'm'));
});
