// Turns facts.json into TypeScript: for each served group version one module with its interfaces and kind tokens.

const meta = 'k8s.io/apimachinery/pkg/apis/meta/v1';
const extensions = 'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1';

/** Types that apimachinery writes by hand, as [module, name]. */
const handWritten = {
  [`${meta}.TypeMeta`]: ['object', 'TypeMeta'],
  [`${meta}.ObjectMeta`]: ['object', 'ObjectMeta'],
  [`${meta}.ListMeta`]: ['object', 'ListMeta'],
  [`${meta}.OwnerReference`]: ['object', 'OwnerReference'],
  [`${meta}.ManagedFieldsEntry`]: ['object', 'ManagedFieldsEntry'],
  [`${meta}.LabelSelector`]: ['selector', 'LabelSelector'],
  [`${meta}.LabelSelectorRequirement`]: ['selector', 'LabelSelectorRequirement'],
  [`${meta}.Condition`]: ['condition', 'Condition'],
  [`${meta}.Status`]: ['status', 'Status'],
  [`${meta}.StatusDetails`]: ['status', 'StatusDetails'],
  [`${meta}.StatusCause`]: ['status', 'StatusCause'],
  'k8s.io/apimachinery/pkg/api/resource.Quantity': ['quantity', 'Quantity'],
  'k8s.io/apimachinery/pkg/util/intstr.IntOrString': ['int-or-string', 'IntOrString'],
};

/** Types whose JSON their Go fields do not describe, and what stands in JSON. */
const wireTypes = {
  [`${meta}.Time`]: 'string',
  [`${meta}.MicroTime`]: 'string',
  [`${meta}.Duration`]: 'string',
  [`${meta}.FieldsV1`]: 'Record<string, unknown>',
  'k8s.io/apimachinery/pkg/runtime.RawExtension': 'unknown',
  [`${extensions}.JSON`]: 'unknown',
  [`${extensions}.JSONSchemaPropsOrArray`]: 'JSONSchemaProps | JSONSchemaProps[]',
  [`${extensions}.JSONSchemaPropsOrBool`]: 'JSONSchemaProps | boolean',
  [`${extensions}.JSONSchemaPropsOrStringArray`]: 'JSONSchemaProps | string[]',
};

/** Group versions that no server serves but webhooks speak. */
const payloadPackages = ['k8s.io/api/admission/v1'];

const scalars = { string: 'string', bytes: 'string', bool: 'boolean', any: 'unknown' };

/** @returns {Map<string, string>} `apps/v1.ts` → content */
export function renderKinds(facts) {
  const modules = new Map();
  const moduleOf = (path) => {
    let module = modules.get(path);
    if (module === undefined) modules.set(path, (module = { path, types: new Set(), kinds: new Map() }));
    return module;
  };
  const versions = new Map(facts.groupVersions.map((entry) => [entry.package, entry]));
  // API types also refer to helpers outside of group versions: those are followed to what they are made of.
  const isRendered = (ref) => versions.has(packageOf(ref)) || (packageOf(ref) === meta && 'fields' in facts.types[ref]);
  const visit = (ref) => {
    if (ref in handWritten || !(ref in facts.types)) return;
    const module = isRendered(ref) && !(ref in wireTypes) ? moduleOf(packageOf(ref)) : undefined;
    if (module?.types.has(nameOf(ref)) === true) return;
    module?.types.add(nameOf(ref));
    if (ref in wireTypes) {
      if (wireTypes[ref].includes('JSONSchemaProps')) visit(`${extensions}.JSONSchemaProps`);
      return;
    }
    const type = facts.types[ref];
    if (type.type !== undefined) visitExpression(type.type);
    for (const field of type.fields ?? []) visitExpression(field.type);
  };
  const visitExpression = (expression) => {
    if (expression.ref !== undefined) visit(expression.ref);
    if (expression.list !== undefined) visitExpression(expression.list);
    if (expression.map !== undefined) visitExpression(expression.map);
  };

  const served = facts.kinds.filter((kind) => kind.served);
  for (const kind of served) {
    moduleOf(packageOf(kind.type)).kinds.set(kind.kind, kind);
    visit(kind.type);
  }
  // Bodies of subresources, options and webhook payloads: everything that says its own kind, lists excepted.
  const packages = new Set([...served.map((kind) => packageOf(kind.type)), ...payloadPackages]);
  for (const [ref, type] of Object.entries(facts.types)) {
    if (packages.has(packageOf(ref)) && hasInline(type, 'TypeMeta') && !isList(type)) visit(ref);
  }

  const files = new Map();
  for (const module of modules.values()) files.set(fileOf(module.path), renderModule(module));
  return files;

  function fileOf(path) {
    if (path === meta) return 'meta/v1.ts';
    const { group, version } = versions.get(path);
    return `${group === '' ? 'core' : group}/${version}.ts`;
  }

  function renderModule(module) {
    const imports = new Map();
    // Two versions of a group have types of the same name: the other one's comes in under its package's name.
    const use = (file, name) => {
      if (!imports.has(file)) imports.set(file, new Map());
      const local = module.types.has(name) ? `${aliasPrefix(file)}${name}` : name;
      imports.get(file).set(name, local);
      return local;
    };
    const bodies = [];
    for (const name of [...module.types].sort()) {
      const ref = `${module.path}.${name}`;
      if (!isInlined(ref)) bodies.push(renderType(ref, module, use));
      const kind = module.kinds.get(name);
      if (kind !== undefined) bodies.push(renderToken(kind, use));
    }
    const sources = Object.entries(facts.sources).filter(([name]) => module.path.startsWith(`${name}/`));
    const lines = [
      `// Generated by tooling/kube-facts from ${sources.map(([name, version]) => `${name} ${version}`).join(', ')} (Apache-2.0). Do not edit.`,
    ];
    if (module.kinds.size > 0) lines.push("import { defineKind } from '../../../kind.js';");
    for (const [file, names] of [...imports].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const list = [...names].sort().map(([name, local]) => (name === local ? name : `${name} as ${local}`));
      lines.push(`import type { ${list.join(', ')} } from '${file}';`);
    }
    return `${lines.join('\n')}\n\n${bodies.join('\n\n')}\n`;
  }

  function renderToken(kind, use) {
    const scope = kind.namespaced ? 'Namespaced' : 'Cluster';
    use('../../../kind.js', 'Kind');
    return [
      `/** Kind token of ${kind.kind} (\`${kind.plural}\`${kind.group === '' ? '' : ` in ${kind.group}`}). */`,
      `export const ${kind.kind}: Kind<${kind.kind}, '${scope}'> = /* @__PURE__ */ defineKind<${kind.kind}, '${scope}'>({`,
      `  group: '${kind.group}',`,
      `  version: '${kind.version}',`,
      `  kind: '${kind.kind}',`,
      `  plural: '${kind.plural}',`,
      `  scope: '${scope}',`,
      '});',
    ].join('\n');
  }

  function renderType(ref, module, use) {
    const type = facts.types[ref];
    const name = nameOf(ref);
    if (type.type !== undefined) {
      const text = type.values === undefined ? expression(type.type, module, use) : union(type.values);
      return `${comment(type.doc, '')}export type ${name} = ${text};`;
    }
    const isObject =
      hasInline(type, 'TypeMeta') && type.fields.some((field) => isObjectMeta(field) && field.json === 'metadata');
    const parents = [];
    const lines = [];
    // Types of meta/v1 are spoken under every group version.
    const version = module.path === meta ? undefined : versions.get(module.path);
    if (hasInline(type, 'TypeMeta')) {
      parents.push(use('../../../object.js', isObject ? 'KubeObject' : 'TypeMeta'));
      if (version !== undefined) {
        lines.push(`  apiVersion?: '${version.group === '' ? '' : `${version.group}/`}${version.version}';`);
        lines.push(`  kind?: '${name}';`);
      }
    }
    for (const field of type.fields) {
      if (field.inline === true) {
        if (nameOf(field.type.ref ?? '') !== 'TypeMeta') parents.push(expression(field.type, module, use));
        continue;
      }
      if (isObject && isObjectMeta(field)) continue;
      const key = /^[A-Za-z_][A-Za-z0-9_]*$/.test(field.json) ? field.json : `'${field.json}'`;
      const optional = field.optional === true ? '?' : '';
      lines.push(
        `${comment(field.doc, '  ')}  ${key}${optional}: ${expression(field.type, module, use)}${orNull(field)};`,
      );
    }
    const heritage = parents.length === 0 ? '' : ` extends ${parents.join(', ')}`;
    const head = `${comment(type.doc, '')}export interface ${name}${heritage}`;
    return lines.length === 0 ? `${head} {}` : `${head} {\n${lines.join('\n')}\n}`;
  }

  /** A Go server writes a nil list or map without omitempty as null; where the field is optional, that happens. */
  function orNull(field) {
    const writesNull = field.optional === true && field.omitempty !== true && field.omitzero !== true;
    return writesNull && (field.type.pointer === true || isNilable(field.type)) ? ' | null' : '';
  }

  function isNilable(type) {
    if (type.list !== undefined || type.map !== undefined) return true;
    const named = type.ref === undefined ? undefined : facts.types[type.ref]?.type;
    return named !== undefined && isNilable(named);
  }

  /** A name for a scalar without known values says nothing that the scalar does not say. */
  function isInlined(ref) {
    const type = facts.types[ref];
    return type?.type?.scalar !== undefined && type.values === undefined;
  }

  function expression(type, module, use) {
    if (type.scalar !== undefined) return scalars[type.scalar] ?? 'number';
    if (type.list !== undefined) return `${parenthesised(expression(type.list, module, use))}[]`;
    if (type.map !== undefined) return `Record<string, ${expression(type.map, module, use)}>`;
    if (type.ref in handWritten) {
      const [file, name] = handWritten[type.ref];
      return use(`../../../${file}.js`, name);
    }
    if (type.ref in wireTypes) return wireTypes[type.ref];
    const facts_ = facts.types[type.ref];
    if (facts_ === undefined) throw new Error(`${module.path} refers to ${type.ref}, which no fact describes`);
    if (isInlined(type.ref)) return expression(facts_.type, module, use);
    if (!isRendered(type.ref)) {
      if (facts_.type === undefined)
        throw new Error(`${module.path} refers to the struct ${type.ref} outside of a group version`);
      return expression(facts_.type, module, use);
    }
    const path = packageOf(type.ref);
    return path === module.path
      ? nameOf(type.ref)
      : use(`../${fileOf(path).replace(/\.ts$/, '.js')}`, nameOf(type.ref));
  }
}

/** `../admissionregistration.k8s.io/v1.js` → `AdmissionregistrationV1` */
const aliasPrefix = (file) =>
  file
    .replace(/\.js$/, '')
    .split('/')
    .slice(-2)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1).split('.')[0])
    .join('');

const packageOf = (ref) => ref.slice(0, ref.lastIndexOf('.'));
const nameOf = (ref) => ref.slice(ref.lastIndexOf('.') + 1);
const isObjectMeta = (field) => field.type.ref === `${meta}.ObjectMeta`;
const hasInline = (type, name) =>
  (type.fields ?? []).some((field) => field.inline === true && field.type.ref === `${meta}.${name}`);
const isList = (type) => type.fields.some((field) => field.type.ref === `${meta}.ListMeta`);
const parenthesised = (text) => (text.includes('|') ? `(${text})` : text);

/** Known values for completion, and any other string: a newer server may send one. */
function union(values) {
  const texts = [...new Set(values)].map((value) => `'${value.replaceAll("'", "\\'")}'`);
  return `${texts.join(' | ')} | (string & {})`;
}

function comment(doc, indent) {
  return doc === undefined || doc === '' ? '' : `${indent}/** ${doc.replaceAll('*/', '* /')} */\n`;
}
