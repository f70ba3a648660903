/**
 * Turns tooling/kube-facts/facts.json into the table of built-in kinds, src/registry/generated/builtin-table.ts.
 *
 *   pnpm exec node scripts/generate-table.mjs            writes it
 *   pnpm exec node scripts/generate-table.mjs --check    fails when the committed file differs
 *
 * The table is two texts of lines; ../src/registry/builtin-table.ts describes and reads them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { systemObjects } from '../src/boot/generated/system-objects.ts';

const factsFile = new URL('../../../tooling/kube-facts/facts.json', import.meta.url);
const tableFile = new URL('../src/resource/generated/builtin-table.ts', import.meta.url);
const facts = JSON.parse(readFileSync(factsFile, 'utf8'));

const meta = 'k8s.io/apimachinery/pkg/apis/meta/v1.';
const apiextensions = 'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.';
const scalars = { string: 's', bool: 'b', int32: 'i', int64: 'l', int: 'l', float64: 'f', bytes: 'y', any: 'a' };
const custom = {
  [`${meta}Time`]: 't',
  [`${meta}MicroTime`]: 'u',
  [`${meta}Duration`]: 'D',
  [`${meta}FieldsV1`]: 'a',
  'k8s.io/apimachinery/pkg/api/resource.Quantity': 'q',
  'k8s.io/apimachinery/pkg/util/intstr.IntOrString': 'I',
  'k8s.io/apimachinery/pkg/runtime.RawExtension': 'R',
  [`${apiextensions}JSON`]: 'a',
  'time.Duration': 'l',
};
/** Types that are either a schema or something else. */
const unions = { JSONSchemaPropsOrBool: 'b', JSONSchemaPropsOrArray: 'l', JSONSchemaPropsOrStringArray: 's' };
const verbLetters = {
  create: 'c',
  delete: 'd',
  deletecollection: 'D',
  get: 'g',
  list: 'l',
  patch: 'p',
  update: 'u',
  watch: 'w',
};

/** Bodies of requests and answers that are no kinds of their own in discovery. */
const extraRoots = [
  'k8s.io/api/autoscaling/v1.Scale',
  'k8s.io/api/policy/v1.Eviction',
  'k8s.io/api/authentication/v1.TokenRequest',
  'k8s.io/api/apidiscovery/v2.APIGroupDiscoveryList',
  ...[
    ...['DeleteOptions', 'CreateOptions', 'UpdateOptions', 'PatchOptions', 'GetOptions', 'ListOptions'],
    ...['Status', 'ListMeta', 'PartialObjectMetadata'],
    ...['APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList'],
  ].map((name) => meta + name),
];

const indexes = new Map();
const queue = [];

function indexOf(name) {
  let index = indexes.get(name);
  if (index === undefined) {
    index = indexes.size;
    indexes.set(name, index);
    queue.push(name);
  }
  return index;
}

function expression(type) {
  const pointer = type.pointer === true ? '*' : '';
  if (type.list !== undefined) return `${pointer}[${expression(type.list)}`;
  if (type.map !== undefined) return `${pointer}{${expression(type.map)}`;
  if (type.scalar !== undefined) {
    const letter = scalars[type.scalar];
    if (letter === undefined) throw new Error(`no letter for scalar ${type.scalar}`);
    return pointer + letter;
  }
  if (custom[type.ref] !== undefined) return pointer + custom[type.ref];
  const union = unions[type.ref.slice(apiextensions.length)];
  if (type.ref.startsWith(apiextensions) && union !== undefined) {
    return `${pointer}~${union}#${indexOf(`${apiextensions}JSONSchemaProps`)}`;
  }
  const target = facts.types[type.ref];
  if (target === undefined) throw new Error(`unknown type ${type.ref}`);
  if (target.customJSON === true) throw new Error(`no treatment for ${type.ref}, which marshals itself`);
  return `${pointer}#${indexOf(type.ref)}`;
}

/** The fields of a struct, with those of embedded structs; `protobuf` becomes the path of numbers: `2.1` is field 1 of message 2. */
function fieldsOf(name) {
  return facts.types[name].fields.flatMap((field) => {
    if (field.inline === true) return field.type.ref === undefined ? [] : embeddedFields(field);
    return field.json === undefined || field.json === '-' ? [] : [field];
  });
}

function embeddedFields({ type, protobuf }) {
  return fieldsOf(type.ref).map((inner) => {
    if (protobuf === undefined || inner.protobuf === undefined) return { ...inner, protobuf: undefined };
    if (type.pointer === true) throw new Error(`no treatment for an embedded pointer to ${type.ref}`);
    return { ...inner, protobuf: `${protobuf}.${inner.protobuf}` };
  });
}

function fieldText(field) {
  const flags = (field.omitempty ? 'e' : '') + (field.omitzero ? 'z' : '') + (field.optional ? 'o' : '');
  const extras = [];
  if (field.patchStrategy !== undefined) extras.push(`p${field.patchStrategy.join('+')}`);
  if (field.patchMergeKey !== undefined) extras.push(`k${field.patchMergeKey}`);
  if (field.listType !== undefined) extras.push(`l${field.listType}`);
  if (field.listMapKeys !== undefined) extras.push(`K${field.listMapKeys.join('+')}`);
  const mapType = field.mapType ?? field.structType;
  if (mapType !== undefined) extras.push(`m${mapType}`);
  if (field.default !== undefined && !field.default.startsWith('ref(')) extras.push(`d${field.default}`);
  return [field.json, expression(field.type), flags, field.protobuf ?? '', ...extras].join(',');
}

function typeLine(name) {
  const type = facts.types[name];
  const path = name.slice(0, name.lastIndexOf('.'));
  const goName = `${path.slice(path.lastIndexOf('/') + 1)}.${name.slice(name.lastIndexOf('.') + 1)}`;
  if (type.fields === undefined)
    return `${goName}\t=${type.protobufMessage === true ? '&' : ''}${expression(type.type)}`;
  return `${goName}\t${fieldsOf(name).map(fieldText).join('|')}`;
}

function letters(verbs) {
  return verbs.map((verb) => verbLetters[verb]).join('');
}

function kindLine(kind) {
  const subresources = (kind.subresources ?? []).map((sub) =>
    [sub.name, sub.group, sub.version, sub.kind, letters(sub.verbs)].join(':'),
  );
  return [
    kind.group,
    kind.version,
    kind.kind,
    kind.plural,
    kind.singular,
    (kind.shortNames ?? []).join('+'),
    (kind.categories ?? []).join('+'),
    kind.namespaced ? 'n' : '',
    letters(kind.verbs),
    subresources.join('+'),
    kind.type === undefined ? '' : indexOf(kind.type),
  ].join(',');
}

/** The place of a group in discovery: by the priority of its APIService, of which the aggregator's own group has none. */
const priorities = new Map([['apiregistration.k8s.io', 20_000]]);
for (const { kind, spec } of systemObjects.split('\n').map((line) => JSON.parse(line)))
  if (kind === 'APIService') priorities.set(spec.group ?? '', spec.groupPriorityMinimum);

function priorityOf({ group }) {
  const priority = priorities.get(group);
  if (priority === undefined) throw new Error(`the system objects have no APIService of group ${group}`);
  return group === '' ? Infinity : priority;
}

// What a server of this release serves unless told otherwise: general availability only.
const kinds = facts.kinds
  .filter((kind) => kind.served && kind.source === 'discovery' && /^v\d+$/.test(kind.version))
  .sort((a, b) => priorityOf(b) - priorityOf(a));
indexOf(`${meta}ObjectMeta`);
const kindLines = kinds.map(kindLine);
const extraLines = extraRoots.map((name) => `${name.slice(name.lastIndexOf('.') + 1)},${indexOf(name)}`);
const typeLines = [];
for (let next = 0; next < queue.length; next += 1) typeLines[next] = typeLine(queue[next]);

const release = facts.sources['k8s.io/kubernetes'].replace(/^v/, '');
const text = `// Written by scripts/generate-table.mjs from the facts in tooling/kube-facts. Do not edit.
// Derived from the struct tags of k8s.io/api and its siblings, Copyright The Kubernetes Authors, Apache-2.0.

/** Kubernetes release whose discovery the kinds are those of. */
export const release: string = ${JSON.stringify(release)};

/** One line for each kind. */
export const kinds: string = \`${kindLines.join('\n')}\`;

/** Types of request bodies that are not kinds of a resource: name and index. */
export const bodies: string = \`${extraLines.join('\n')}\`;

/** One line for each type. The first is ObjectMeta. */
export const types: string = String.raw\`${typeLines.join('\n')}\`;
`;
if (/\$\{|`/.test(kindLines.join('') + typeLines.join('')))
  throw new Error('a fact would break out of its template literal');

if (process.argv.includes('--check')) {
  if (readFileSync(tableFile, 'utf8') !== text) {
    console.error('builtin-table.ts is not what generate-table.mjs writes: run it and commit the result');
    process.exit(1);
  }
} else {
  writeFileSync(tableFile, text);
  console.log(`${kinds.length} kinds, ${typeLines.length} types, ${text.length} bytes`);
}
