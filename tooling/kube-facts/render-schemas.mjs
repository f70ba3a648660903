// Turns facts.json into structural schemas of the built-in types, for embedding in custom resources: for each served
// group version one module of values that refer to one another, so that a bundler keeps what is used.

const meta = 'k8s.io/apimachinery/pkg/apis/meta/v1';
const intOrString = { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true };
const text = { type: 'string' };
const map = { type: 'object', additionalProperties: text };

/** Types whose JSON their fields do not describe, as controller-gen writes them. */
const known = {
  [`${meta}.Time`]: { type: 'string', format: 'date-time' },
  [`${meta}.MicroTime`]: { type: 'string', format: 'date-time' },
  [`${meta}.Duration`]: { type: 'string' },
  [`${meta}.FieldsV1`]: { type: 'object' },
  [`${meta}.ObjectMeta`]: {
    type: 'object',
    properties: {
      annotations: map,
      finalizers: { type: 'array', items: text },
      labels: map,
      name: text,
      namespace: text,
    },
  },
  'k8s.io/apimachinery/pkg/runtime.RawExtension': { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  'k8s.io/apimachinery/pkg/util/intstr.IntOrString': intOrString,
  'k8s.io/apimachinery/pkg/api/resource.Quantity': {
    ...intOrString,
    pattern:
      '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  },
};

const scalars = {
  string: text,
  bytes: { type: 'string', format: 'byte' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  float64: { type: 'number' },
  any: { 'x-kubernetes-preserve-unknown-fields': true },
};

/** Group versions whose types custom resources embed; what they refer to comes along. */
const embedded = ['apps/v1', 'autoscaling/v2', 'batch/v1', 'core/v1', 'networking/v1', 'policy/v1', 'rbac/v1'].map(
  (name) => `k8s.io/api/${name}`,
);

/** Types of meta/v1 that custom resources embed. */
const metaTypes = ['Condition', 'LabelSelector', 'LabelSelectorRequirement', 'OwnerReference'];
const handWritten = {
  Condition: 'condition.js',
  LabelSelector: 'selector.js',
  LabelSelectorRequirement: 'selector.js',
  OwnerReference: 'object.js',
};

const packageOf = (ref) => ref.slice(0, ref.lastIndexOf('.'));
const nameOf = (ref) => ref.slice(ref.lastIndexOf('.') + 1);

/** @param {any} facts @param {Map<string, string>} kinds the modules of interfaces @returns {Map<string, string>} `batch/v1.ts` → content */
export function renderSchemas(facts, kinds) {
  const hasInterface = (ref) =>
    (packageOf(ref) === meta && nameOf(ref) in handWritten) ||
    kinds.get(fileOf(packageOf(ref)))?.includes(`export interface ${nameOf(ref)} `) === true;
  const versions = new Map(facts.groupVersions.map((entry) => [entry.package, entry]));
  /** Types to write, by package. A type that contains itself has no structural schema, nor has what holds it. */
  const modules = new Map();
  const states = new Map();
  const isStruct = (ref) => facts.types[ref]?.fields !== undefined && !(ref in known);
  const visit = (ref) => {
    if (states.has(ref)) return states.get(ref) === 'fine';
    states.set(ref, 'open');
    const fine = refsOf(facts.types[ref]).every((each) => !isStruct(each) || visit(each));
    states.set(ref, fine ? 'fine' : 'recursive');
    if (fine)
      (modules.get(packageOf(ref)) ?? modules.set(packageOf(ref), new Set()).get(packageOf(ref))).add(nameOf(ref));
    return fine;
  };
  const expressionRefs = (type) => {
    if (type.list !== undefined) return expressionRefs(type.list);
    if (type.map !== undefined) return expressionRefs(type.map);
    if (type.ref === undefined) return [];
    const named = facts.types[type.ref];
    return named?.type === undefined ? [type.ref] : expressionRefs(named.type);
  };
  const refsOf = (type) =>
    (type.fields ?? []).filter((field) => !isTypeMeta(field)).flatMap((field) => expressionRefs(field.type));
  const isTypeMeta = (field) => field.inline === true && field.type.ref === `${meta}.TypeMeta`;

  for (const [ref, type] of Object.entries(facts.types)) {
    const path = packageOf(ref);
    const isList = (type.fields ?? []).some((field) => field.type.ref === `${meta}.ListMeta`);
    const isWanted = path === meta ? metaTypes.includes(nameOf(ref)) : embedded.includes(path);
    if (isWanted && isStruct(ref) && hasInterface(ref) && !isList && refsOf(type).every((each) => each in facts.types))
      visit(ref);
  }

  const files = new Map();
  for (const [path, names] of modules) {
    if (path === meta || versions.has(path)) files.set(fileOf(path), renderModule(path, names));
  }
  return files;

  function fileOf(path) {
    if (path === meta) return 'meta/v1.ts';
    const { group, version } = versions.get(path);
    return `${group === '' ? 'core' : group}/${version}.ts`;
  }

  function renderModule(path, names) {
    const imports = new Map();
    const types = new Map();
    const use = (ref) => {
      const other = packageOf(ref);
      if (other === path) return nameOf(ref);
      const file = `../${fileOf(other).replace(/\.ts$/, '.js')}`;
      const local = names.has(nameOf(ref)) ? `${versions.get(other)?.version ?? 'meta'}${nameOf(ref)}` : nameOf(ref);
      (imports.get(file) ?? imports.set(file, new Map()).get(file)).set(nameOf(ref), local);
      return local;
    };
    const typeOf = (name) => {
      const file =
        path === meta && name in handWritten
          ? `../../../${handWritten[name]}`
          : `../../../kinds/generated/${fileOf(path).replace(/\.ts$/, '.js')}`;
      (types.get(file) ?? types.set(file, new Set()).get(file)).add(name);
      return `${name}Type`;
    };
    const bodies = [...names].sort().map((name) => {
      const type = facts.types[`${path}.${name}`];
      const shape = typeOf(name);
      const doc = type.doc === undefined ? `Schema of ${name}.` : type.doc.replaceAll('*/', '* /');
      return `/** ${doc} */\nexport const ${name}: TypeSchema<${shape}> = /* @__PURE__ */ typeSchema<${shape}>(() => (${render(structOf(type, use))}));`;
    });
    const sources = Object.entries(facts.sources).filter(([name]) => path.startsWith(`${name}/`));
    const from = sources.map(([name, version]) => `${name} ${version}`).join(', ');
    const needsField = bodies.some((body) => body.includes('fieldSchema('));
    const lines = [
      `// Generated by tooling/kube-facts from ${from} (Apache-2.0). Do not edit.`,
      `import { ${needsField ? 'fieldSchema, ' : ''}typeSchema } from '../../../type-schema.js';`,
      "import type { TypeSchema } from '../../../type-schema.js';",
    ];
    for (const [file, list] of [...types].sort(([a], [b]) => (a < b ? -1 : 1))) {
      lines.push(
        `import type { ${[...list]
          .sort()
          .map((name) => `${name} as ${name}Type`)
          .join(', ')} } from '${file}';`,
      );
    }
    for (const [file, list] of [...imports].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const shown = [...list].sort().map(([name, local]) => (name === local ? name : `${name} as ${local}`));
      lines.push(`import { ${shown.join(', ')} } from '${file}';`);
    }
    return `${lines.join('\n')}\n\n${bodies.join('\n\n')}\n`;
  }

  function structOf(type, use, isInline = false) {
    const properties = {};
    const required = [];
    const rules = [];
    let mapType = isInline ? undefined : type.structType;
    for (const field of type.fields) {
      if (isTypeMeta(field)) {
        properties.apiVersion = text;
        properties.kind = text;
      } else if (field.inline === true) {
        const { fields = [], structType } = facts.types[field.type.ref] ?? {};
        const inner = structOf({ fields }, use, true);
        Object.assign(properties, inner.properties);
        required.push(...(inner.required ?? []));
        rules.push(...(inner[rulesKey] ?? []));
        // As controller-gen flattens it.
        mapType ??= structType;
      } else if (field.json !== undefined) {
        properties[field.json] = fieldOf(field, use);
        const isRequired = field.optional !== true || field.required === true;
        if (isRequired) required.push(field.json);
        else if (field.immutable === true) rules.push(keptOnceSet(field.json));
      }
    }
    const schema = { type: 'object' };
    if (Object.keys(properties).length > 0) schema.properties = sorted(properties);
    if (required.length > 0) schema.required = required.sort();
    if (mapType !== undefined) schema['x-kubernetes-map-type'] = mapType;
    if (rules.length > 0) schema[rulesKey] = rules;
    return schema;
  }

  function fieldOf(field, use) {
    const own = {};
    if (field.doc !== undefined) own.description = field.doc;
    if (field.listType !== undefined) own['x-kubernetes-list-type'] = field.listType;
    if (field.listMapKeys !== undefined) own['x-kubernetes-list-map-keys'] = field.listMapKeys;
    const mapType = field.mapType ?? field.structType;
    if (mapType !== undefined) own['x-kubernetes-map-type'] = mapType;
    // `ref(Constant)` names a constant of Go, which controller-gen leaves out, too.
    if (field.default?.startsWith('ref(') === false) own.default = JSON.parse(field.default);
    const type = expression(field.type, use);
    for (const rule of field.validations ?? []) Object.assign(own, validation(rule, type));
    if (field.immutable === true) own[rulesKey] = [{ rule: 'self == oldSelf', message: 'field is immutable' }];
    return type instanceof Reference ? new Reference(type.name, own) : { ...type, ...own };
  }

  function expression(type, use) {
    if (type.scalar !== undefined) return scalars[type.scalar] ?? { type: 'integer' };
    if (type.list !== undefined) return { type: 'array', items: expression(type.list, use) };
    if (type.map !== undefined) return { type: 'object', additionalProperties: expression(type.map, use) };
    if (type.ref in known) return known[type.ref];
    const named = facts.types[type.ref];
    if (named.type !== undefined) return expression(named.type, use);
    if (packageOf(type.ref) !== meta && !versions.has(packageOf(type.ref))) return structOf(named, use);
    return new Reference(use(type.ref), undefined);
  }
}

/** The schema of another type, with what is said of the field. */
class Reference {
  constructor(name, field) {
    this.name = name;
    this.field = field;
  }
}

const numeric = {
  Minimum: 'minimum',
  Maximum: 'maximum',
  MinLength: 'minLength',
  MaxLength: 'maxLength',
  MinItems: 'minItems',
  MaxItems: 'maxItems',
};

const rulesKey = 'x-kubernetes-validations';

/** The rule of an object for an optional field that cannot change: its own does not run without it. */
function keptOnceSet(name) {
  return { rule: `!has(oldSelf.${name}) || has(self.${name})`, message: `field ${name} is immutable once set` };
}

/** A marker of controller-gen. */
function validation(rule, type) {
  if (rule === 'NotEmpty') return notEmpty(type);
  const at = rule.indexOf('=');
  const name = rule.slice(0, at);
  const value = rule.slice(at + 1);
  if (name in numeric) return { [numeric[name]]: Number(value) };
  if (name === 'Enum') return { enum: value.split(';') };
  if (name === 'Pattern') return { pattern: value.replace(/^[`"]|[`"]$/g, '') };
  return {};
}

/** What declarative validation's `required` asks of a value: an object or a reference to one has a field, a text a character. */
function notEmpty(type) {
  if (type instanceof Reference || type.type === 'object') return { minProperties: 1 };
  if (type.type === 'array') return { minItems: 1 };
  return type.type === 'string' ? { minLength: 1 } : {};
}

const sorted = (object) =>
  Object.fromEntries(
    Object.keys(object)
      .sort()
      .map((key) => [key, object[key]]),
  );

/** A schema as an expression of TypeScript. */
function render(value) {
  if (value instanceof Reference) {
    if (value.field === undefined || Object.keys(value.field).length === 0) return `fieldSchema(${value.name}, {})`;
    return `fieldSchema(${value.name}, ${render(value.field)})`;
  }
  if (Array.isArray(value)) return `[${value.map(render).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(
      ([key, entry]) => `${/^[A-Za-z_]\w*$/.test(key) ? key : quote(key)}: ${render(entry)}`,
    );
    return `{ ${entries.join(', ')} }`;
  }
  return typeof value === 'string' ? quote(value) : JSON.stringify(value);
}

const quote = (value) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
