import { isStatusError, type UntypedObject } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { builtInDefinitions } from '../registry/builtins.js';
import { createRegistry } from './create-registry.js';
import { invalid } from '../protocol/status.js';
import type { ResourceDefinition, WriteContext } from '../resource/resource.js';
import { definitionsOfCrd } from './crd-definition.js';

/** The Widget of the recorded answers (golden/crd-1.36-p2.txt). */
const widgetSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      'x-kubernetes-validations': [{ rule: 'self.size <= self.max', message: 'size must be <= max' }],
      properties: {
        size: { type: 'integer' },
        max: { type: 'integer', default: 10 },
        color: { type: 'string', enum: ['red', 'blue'] },
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, v: { type: 'string' } },
          },
        },
      },
    },
    status: { type: 'object', properties: { ready: { type: 'boolean' } } },
  },
};

function crdOf(versions: unknown[], names: Record<string, unknown> = {}): UntypedObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.ex.io' },
    spec: {
      group: 'ex.io',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', ...names },
      versions,
    },
  };
}

function version(extra: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: widgetSchema },
    subresources: { status: {} },
    ...extra,
  };
}

function only(crd: UntypedObject): ResourceDefinition {
  const [definition] = definitionsOfCrd(crd);
  if (definition === undefined) throw new Error('nothing is served');
  return definition;
}

const warnings: string[] = [];
const context: WriteContext = {
  now: '2026-11-21T00:50:17Z',
  random: () => 0.5,
  objects: () => [],
  warn: (text) => warnings.push(text),
  dryRun: false,
};

const widgets = only(crdOf([version()]));

function decode(definition: ResourceDefinition, body: Record<string, unknown>) {
  const value = structuredClone({ apiVersion: definition.apiVersion, kind: definition.kind, ...body });
  return definition.decode({ value });
}

/** The message of the answer to a create, as the handlers build it; '' when it succeeds. */
function createMessage(definition: ResourceDefinition, body: Record<string, unknown>): string {
  const { object } = decode(definition, body);
  object.metadata.namespace = 'default';
  definition.prepareForCreate(object, context);
  const errors = definition.validateCreate(object, context);
  const kind = { group: definition.group, kind: object.kind ?? '' };
  return errors.length === 0 ? '' : invalid(kind, object.metadata.name ?? '', errors).message;
}

const unchecked =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

describe('custom resources, by the recorded answers', () => {
  it.each([
    [
      'create no name',
      { metadata: {}, spec: { size: 1 } },
      `Widget.ex.io "" is invalid: [metadata.name: Required value: name or generateName is required, ${unchecked}]`,
    ],
    [
      'create bad name',
      { metadata: { name: 'Bad_Name' }, spec: { size: 1 } },
      `Widget.ex.io "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    ],
    [
      'create bad label',
      { metadata: { name: 'bl', labels: { 'a b': 'x' } }, spec: { size: 1 } },
      `Widget.ex.io "bl" is invalid: metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
    ],
    [
      'create type fail',
      { metadata: { name: 'ty' }, spec: { size: 'x', max: 1.5 } },
      `Widget.ex.io "ty" is invalid: [spec.max: Invalid value: "number": spec.max in body must be of type integer: "number", <nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.max, spec.size: Invalid value: "string": spec.size in body must be of type integer: "string", ${unchecked}]`,
    ],
    [
      'create missing req',
      { metadata: { name: 'mr' }, spec: {} },
      `Widget.ex.io "mr" is invalid: [spec.size: Required value, ${unchecked}]`,
    ],
    [
      'create dup listmap',
      { metadata: { name: 'dl' }, spec: { size: 1, parts: [{ name: 'a' }, { name: 'a' }] } },
      'Widget.ex.io "dl" is invalid: spec.parts[1]: Duplicate value: {"name":"a"}',
    ],
  ])('§2.5-36 %s', (_name, body, message) => {
    expect(createMessage(widgets, body)).toBe(message);
  });
  it('§2.5-36 enum: FieldValueNotSupported', () => {
    expect(createMessage(widgets, { metadata: { name: 'e' }, spec: { size: 1, color: 'green' } })).toContain(
      'spec.color: Unsupported value: "green": supported values: "red", "blue"',
    );
  });
  it('§2.2-10 create kind mismatch: 422 about the given kind; rules are evaluated, without defaults of this one', () => {
    expect(createMessage(widgets, { kind: 'Gadget', metadata: { name: 'km' }, spec: { size: 1 } })).toBe(
      'Gadget.ex.io "km" is invalid: [kind: Invalid value: "Gadget": must be Widget, spec: Invalid value: "object": no such key: max evaluating rule: size must be <= max]',
    );
  });
  it.each([
    [
      'apiVersion mismatch',
      { apiVersion: 'ex.io/v2', kind: 'Widget' },
      'the API version in the data (ex.io/v2) does not match the expected API version (ex.io/v1)',
    ],
    [
      'no kind',
      { apiVersion: 'ex.io/v1', metadata: { name: 'nk' }, spec: { size: 1 } },
      'the object provided is unrecognized (must be of type Widget): Object \'Kind\' is missing in \'{"apiVersion":"ex.io/v1","metadata":{"name":"nk"},"spec":{"size":1}}\' ({"apiVersion":"ex.io/v1","meta ...)',
    ],
  ])('§2.2-10 %s: 400', (_name, body, message) => {
    try {
      widgets.decode({ value: body, text: JSON.stringify(body) });
      expect.unreachable();
    } catch (error) {
      expect(isStatusError(error) && [error.httpCode, error.message]).toEqual([400, message]);
    }
  });
  it('§2.10-62 prunes, reports and defaults; null is dropped where it is not allowed', () => {
    const { object, problems } = decode(widgets, {
      metadata: { name: 'a', bogus: 1 },
      foo: 1,
      spec: { size: null, max: null, zz: 1, parts: [{ name: 'a', q: 1 }] },
    });
    expect(problems).toEqual(
      ['metadata.bogus', 'foo', 'spec.parts[0].q', 'spec.zz'].map((path) => `unknown field "${path}"`),
    );
    expect(object['spec']).toEqual({ max: 10, parts: [{ name: 'a' }] });
    expect(object.metadata).toEqual({ name: 'a' });
  });
  it('§2.10-62 keeps integers beyond 2^53', () => {
    expect(createMessage(widgets, { metadata: { name: 'n' }, spec: { size: -9223372036854775807n } })).toBe('');
  });
  it('§2.5-35 drops the status on create, and warns of a finalizer without a domain', () => {
    const { object } = decode(widgets, {
      metadata: { name: 'a', namespace: 'default', finalizers: ['noslash'] },
      spec: { size: 1 },
      status: { ready: true },
    });
    widgets.prepareForCreate(object, context);
    expect([object['status'], object.metadata.generation]).toEqual([undefined, 1]);
    warnings.length = 0;
    expect(widgets.validateCreate(object, context)).toEqual([]);
    expect(warnings).toEqual([
      'metadata.finalizers: "noslash": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ]);
  });
});

describe('updates of custom resources', () => {
  const stored: UntypedObject = {
    apiVersion: 'ex.io/v1',
    kind: 'Widget',
    metadata: {
      name: 'u',
      namespace: 'default',
      uid: 'x',
      resourceVersion: '7',
      generation: 2,
      creationTimestamp: '2026-11-21T00:50:17Z',
    },
    spec: { size: 2, max: 10 },
    status: { ready: true },
  };
  const update = (change: (object: UntypedObject) => void, old = stored) => {
    const object = structuredClone(old);
    change(object);
    widgets.prepareForUpdate(object, old, context);
    return { object, errors: widgets.validateUpdate(object, old, context) };
  };
  it('§2.6-41 counts the generation up on a change of the spec only', () => {
    expect(update((o) => (o['spec'] = { size: 3, max: 10 })).object.metadata.generation).toBe(3);
    expect(update((o) => (o.metadata.labels = { a: '2' })).object.metadata.generation).toBe(2);
    expect(update((o) => (o['status'] = { ready: false })).object).toEqual(stored);
  });
  it('§2.6-40 refuses a deletionTimestamp twice in the causes, once in the message', () => {
    const { errors } = update((o) => (o.metadata.deletionTimestamp = '2001-01-01T00:00:00Z'));
    const status = invalid({ group: 'ex.io', kind: 'Widget' }, 'u', errors);
    expect(status.message).toBe(
      'Widget.ex.io "u" is invalid: metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": field is immutable',
    );
    expect(status.status.details?.causes).toHaveLength(2);
  });
  it('§2.9-54 refuses new finalizers while deleting, and ignores the removal of the timestamp', () => {
    const deleting = structuredClone(stored);
    Object.assign(deleting.metadata, {
      deletionTimestamp: '2026-11-21T00:50:37Z',
      deletionGracePeriodSeconds: 0,
      finalizers: ['ex.io/a'],
    });
    const { errors } = update((o) => o.metadata.finalizers?.push('ex.io/b'), deleting);
    expect(errors[0]?.message).toBe(
      'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"ex.io/b"}',
    );
    const { object } = update((o) => delete o.metadata.deletionTimestamp, deleting);
    expect(object.metadata.deletionTimestamp).toBe('2026-11-21T00:50:37Z');
  });
  it('§2.7-43 /status changes the status alone', () => {
    const object = structuredClone(stored);
    Object.assign(object, { spec: { size: 9 }, status: { ready: false } });
    object.metadata.labels = { a: 'b' };
    const status = widgets.subresources.get('status');
    if (status?.type !== 'self') throw new Error('no status');
    status.update.prepareForUpdate(object, stored, context);
    expect(object).toEqual({ ...stored, status: { ready: false } });
    expect(status.update.validateUpdate(object, stored, context)).toEqual([]);
  });
  it('tolerates what was invalid before and has not changed (ratcheting)', () => {
    const broken: UntypedObject = { ...stored, spec: { size: 2, max: 10, color: 'green' } };
    expect(update((o) => (o['spec'] = { size: 3, max: 10, color: 'green' }), broken).errors).toEqual([]);
    expect(update((o) => (o['spec'] = { size: 3, max: 10, color: 'pink' }), broken).errors[0]?.reason).toBe(
      'FieldValueNotSupported',
    );
  });
});

describe('versions and views', () => {
  const schema = (field: string): unknown => ({
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { shared: { type: 'string' }, [field]: { type: 'string', default: field } },
        },
      },
    },
  });
  it('§2.10-64 converts through the storage version, whose schema rules what is kept', () => {
    const [v1, v2] = definitionsOfCrd(
      crdOf([
        { name: 'v1', served: true, storage: true, schema: schema('one') },
        { name: 'v2', served: true, storage: false, schema: schema('two') },
      ]),
    );
    if (v1 === undefined || v2 === undefined) throw new Error('two versions are served');
    const { object } = decode(v2, { metadata: { name: 'a' }, spec: { shared: 's', two: '2' } });
    const stored = v2.toStorage(object);
    expect([stored.apiVersion, stored['spec']]).toEqual(['ex.io/v1', { shared: 's' }]);
    expect(v2.fromStorage(stored)).toMatchObject({ apiVersion: 'ex.io/v2', spec: { shared: 's' } });
    expect(v1.fromStorage(stored)).toMatchObject({ apiVersion: 'ex.io/v1', spec: { shared: 's', one: 'one' } });
    expect(v1.fromStorage(stored)).toBe(v1.fromStorage(stored));
  });
  it('§2.10-64 does not serve what is not served, and warns of what is deprecated', () => {
    const [served, ...others] = definitionsOfCrd(
      crdOf([version({ deprecated: true }), { name: 'v2', served: false, storage: false }]),
    );
    expect(others).toEqual([]);
    expect(served?.deprecationWarning).toBe('ex.io/v1 Widget is deprecated');
  });
  it('§2.7-44 shows and writes the scale by its paths', () => {
    const scale = {
      specReplicasPath: '.spec.size',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    };
    const definition = only(crdOf([version({ subresources: { scale } })]));
    const view = definition.subresources.get('scale');
    if (view?.type !== 'view') throw new Error('no scale');
    const object: UntypedObject = {
      kind: 'Widget',
      apiVersion: 'ex.io/v1',
      metadata: { name: 'a', uid: 'u', resourceVersion: '3' },
      spec: { size: 2 },
      status: { replicas: 1, selector: 'a=b' },
    };
    const shown = view.view.show(object);
    expect(shown).toEqual({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a', uid: 'u', resourceVersion: '3' },
      spec: { replicas: 2 },
      status: { replicas: 1, selector: 'a=b' },
    });
    expect(view.view.write({ ...shown, spec: { replicas: 5 } }, object)['spec']).toEqual({ size: 5 });
    expect(() => view.view.show({ ...object, spec: {} })).toThrow(
      'the spec replicas field ".spec.size" does not exist',
    );
  });
  it('§2.2-11 prints columns by JSONPath, with the types that they have', () => {
    const columns = [
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
      { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      { name: 'Since', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      { name: 'None', type: 'string', jsonPath: '.spec.none' },
    ];
    const definition = only(crdOf([version({ additionalPrinterColumns: columns })]));
    const object: UntypedObject = {
      metadata: { name: 'a', creationTimestamp: '2026-11-21T00:00:00Z' },
      spec: { size: 1 },
      status: {
        conditions: [
          { type: 'Other', status: 'x' },
          { type: 'Ready', status: 'True' },
        ],
      },
    };
    expect(definition.columns.map(({ name }) => name)).toEqual(['Name', 'Size', 'Ready', 'Since', 'None']);
    expect(definition.cells(object, Date.parse('2026-11-21T00:03:10Z'))).toEqual(['a', 1, 'True', '3m10s', null]);
  });
  it('§2.3-20 selects by selectable fields, and names those that are none', () => {
    const definition = only(crdOf([version({ selectableFields: [{ jsonPath: '.spec.color' }] })]));
    expect(definition.selectableFields).toEqual(['spec.color']);
    expect(definition.fieldsOf({ metadata: { name: 'a', namespace: 'n' }, spec: { color: 'red' } })).toEqual({
      'metadata.name': 'a',
      'metadata.namespace': 'n',
      'spec.color': 'red',
    });
    expect(definition.fieldLabelError('spec.size')).toBe('field label not supported: spec.size');
  });
});

describe('CustomResourceDefinition §2.10-61, by the recorded answers', () => {
  const registry = createRegistry({ definitions: builtInDefinitions() });
  const crds = registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
  const answer = (group: string, change: (crd: Record<string, never>) => void, name?: string): string => {
    if (crds === undefined) throw new Error('no CRDs');
    const base = {
      metadata: { name: name ?? `${group}.t.io` },
      spec: {
        group: 't.io',
        scope: 'Namespaced',
        names: { plural: group, kind: group === 'zz' ? 'Zz' : `${group[0]?.toUpperCase()}${group.slice(1)}` },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    };
    change(base as never);
    return createMessage(crds, base).replace(/^CustomResourceDefinition.apiextensions.k8s.io "[^"]*" is invalid: /, '');
  };
  const schemaOf = (openAPIV3Schema: unknown) => (crd: { spec?: { versions: { schema: unknown }[] } }) => {
    const first = crd.spec?.versions[0];
    if (first !== undefined) first.schema = { openAPIV3Schema };
  };
  const props = (properties: unknown) => schemaOf({ type: 'object', properties }) as never;
  // The namespace that createMessage sets is dropped by the handlers for cluster-scoped kinds.
  const cleaned = (text: string): string =>
    text.replace('metadata.namespace: Forbidden: not allowed on this type', '').replace(/^\[, |^\[|\]$/g, '');
  it('crd bad name', () => {
    expect(cleaned(answer('zz', () => undefined, 'zz'))).toBe(
      'metadata.name: Invalid value: "zz": must be spec.names.plural+"."+spec.group',
    );
  });
  it('crd non structural', () => {
    expect(cleaned(answer('bs', props({ a: {} })))).toBe(
      'spec.validation.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields',
    );
  });
  it('crd bad default', () => {
    expect(cleaned(answer('fs', props({ a: { type: 'integer', default: 'x' } })))).toBe(
      'spec.validation.openAPIV3Schema.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"',
    );
  });
  it('crd no storage', () => {
    const text = cleaned(
      answer('gs', ((crd: { spec: { versions: { storage: boolean }[] } }) =>
        crd.spec.versions.forEach((each) => (each.storage = false))) as never),
    );
    expect(text).toBe(
      'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version, status.storedVersions: Invalid value: null: must have at least one stored version',
    );
  });
  it('crd with a rule', () => {
    warnings.length = 0;
    const rule = (text: string) =>
      cleaned(answer('ws', props({ spec: { type: 'object', 'x-kubernetes-validations': [{ rule: text }] } })));
    expect(rule('true')).toBe('');
    expect(rule('self.b > 1')).toContain("compilation failed: ERROR: <input>:1:5: undefined field 'b'");
    expect(warnings).toEqual([]);
  });
});
