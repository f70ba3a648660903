import { arrayOf, equalJson, isObject, objectOf, objectsOf, stringOf, type JsonObject } from '../engine/values/json.js';
import { lostKey } from './zod-inspection.js';

/** Annotations that go into the schema: Effect writes those of JSON Schema by itself, and leaves all others out. */
const markerKeys: ReadonlySet<string> = new Set(['example', 'externalDocs', 'format', 'nullable', 'pattern']);

function isMarkerKey(key: string): boolean {
  return key.startsWith('x-kubernetes-') || key.startsWith('x-kctl-') || markerKeys.has(key);
}

/** Checks that Effect writes as a pattern or a separate type. */
const writtenChecks: ReadonlySet<string> = new Set([
  'isAscii',
  'isBase64',
  'isBase64Url',
  'isCapitalized',
  'isEndingWith',
  'isFinite',
  'isGUID',
  'isIncluding',
  'isInt',
  'isLowercased',
  'isStartingWith',
  'isStringFinite',
  'isTrimmed',
  'isULID',
  'isUUID',
  'isUncapitalized',
  'isUnique',
  'isUppercased',
]);

/** Types that JSON has no value for, by the tag of their node. */
const withoutJson: Readonly<Record<string, string>> = {
  BigInt: 'bigint',
  Symbol: 'symbol',
  Undefined: 'undefined',
  UniqueSymbol: 'symbol',
  Void: 'void',
};

function tagOf(node: unknown): string {
  return isObject(node) ? stringOf(node['_tag']) : '';
}

function lengthWord(tag: string): string {
  return tag === 'Arrays' ? 'Items' : 'Length';
}

/**
 * A check as JSON Schema; a string names the part that cannot be expressed. If bounds are given twice, Effect writes
 * the first.
 */
function checkFragment(check: JsonObject, tag: string): JsonObject | string {
  const { id, payload } = objectOf(objectOf(check['annotations'])['representation']);
  const name = stringOf(id).replace('effect/schema/', '');
  const values = objectOf(payload);
  const bounds = (low: string, high: string): JsonObject => ({ [low]: values['minimum'], [high]: values['maximum'] });
  const word = lengthWord(tag);
  switch (name) {
    case '':
      return 'predicate';
    case 'isPattern': {
      const flags = stringOf(values['flags']).replace(/[uv]/, '');
      return flags === '' ? { pattern: values['source'] } : `regular expression flags ${JSON.stringify(flags)}`;
    }
    case 'isMinLength':
      return { [`min${word}`]: values['minLength'] };
    case 'isMaxLength':
      return { [`max${word}`]: values['maxLength'] };
    case 'isMinCodePoints':
      return { minLength: values['minCodePoints'] };
    case 'isMaxCodePoints':
      return { maxLength: values['maxCodePoints'] };
    case 'isBetweenLength':
    case 'isBetweenCodePoints':
      return bounds(`min${word}`, `max${word}`);
    case 'isBetween':
      return {
        [values['exclusiveMinimum'] === true ? 'exclusiveMinimum' : 'minimum']: values['minimum'],
        [values['exclusiveMaximum'] === true ? 'exclusiveMaximum' : 'maximum']: values['maximum'],
      };
    case 'isMultipleOf':
      return { multipleOf: values['divisor'] };
    case 'isBetweenProperties':
      return bounds('minProperties', 'maxProperties');
    case 'isGreaterThan':
    case 'isGreaterThanOrEqualTo':
    case 'isLessThan':
    case 'isLessThanOrEqualTo':
    case 'isMinProperties':
    case 'isMaxProperties':
      return values;
    default:
      return writtenChecks.has(name) ? {} : name;
  }
}

function checksOf(node: JsonObject): JsonObject[] {
  const flat = (check: JsonObject): JsonObject[] =>
    check['_tag'] === 'FilterGroup' ? [check, ...objectsOf(check['checks']).flatMap(flat)] : [check];
  return objectsOf(node['checks']).flatMap(flat);
}

/** Whether a node is a class: JSON has the fields of the struct that it wraps. */
function structOfClass(node: JsonObject): JsonObject | undefined {
  if (node['_tag'] !== 'Declaration') return undefined;
  const [only, ...others] = objectsOf(node['encoding']);
  const target = objectOf(only?.['to']);
  const isClass = others.length === 0 && objectsOf(node['typeParameters']).length === 1 && target['_tag'] === 'Objects';
  return isClass ? target : undefined;
}

/** Parts of a node that its JSON Schema lacks. */
function lostOf(node: JsonObject, checks: readonly (JsonObject | string)[]): string | undefined {
  const tag = tagOf(node);
  if (withoutJson[tag] !== undefined) return withoutJson[tag];
  const links = objectsOf(node['encoding']);
  if (links.length > 0) {
    const isOptional = (each: unknown): boolean => objectOf(objectOf(each)['context'])['isOptional'] === true;
    return isOptional(links[0]?.['to']) && !isOptional(node) ? 'decoding default' : 'transform';
  }
  if (tag === 'Declaration') {
    const id = stringOf(objectOf(objectOf(node['annotations'])['representation'])['id']);
    return id.slice(id.lastIndexOf('/') + 1).toLowerCase() || 'declaration';
  }
  const keys = objectsOf(node['indexSignatures']).map(({ parameter }) => objectOf(parameter));
  if (keys.some((key) => checksOf(key).length > 0)) return 'check of record keys';
  return checks.find((check) => typeof check === 'string');
}

/**
 * Adds information that only the schema itself has to the JSON Schema that Effect writes, such as markers, checks, and
 * lost parts.
 */
class Inspection {
  readonly #root: JsonObject;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  #resolved(json: JsonObject): JsonObject {
    let current = json;
    for (const seen = new Set<string>(); ; ) {
      const { $ref: reference, ...beside } = current;
      const name = stringOf(reference).replace('#/$defs/', '');
      const target = objectOf(this.#root['$defs'])[
        decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')
      ];
      if (name === '' || seen.has(name) || !isObject(target)) return current;
      seen.add(name);
      current = { ...target, ...beside };
    }
  }

  node(source: unknown, written: JsonObject, seen: ReadonlySet<unknown>): JsonObject {
    if (!isObject(source)) return written;
    if (tagOf(source) === 'Suspend') {
      const { thunk } = source;
      const target: unknown = typeof thunk === 'function' ? Reflect.apply(thunk, undefined, []) : undefined;
      // For a type within itself, the reference is kept, so that the converter rejects it.
      return seen.has(target) ? written : this.node(target, written, new Set([...seen, target]));
    }
    const inner = new Set([...seen, source]);
    const checks = checksOf(source);
    const fragments = checks
      .filter(({ _tag: tag }) => tag === 'Filter')
      .map((check) => checkFragment(check, tagOf(source)));
    const said = fragments.filter((each) => isObject(each)).filter((each) => Object.keys(each).length > 0);
    const struct = structOfClass(source);
    const result = this.#children(struct ?? source, this.#resolved(written), inner);
    const lost = struct === undefined ? lostOf(source, fragments) : undefined;
    const key = objectOf(objectOf(source['context'])['annotations']);
    const all = [objectOf(source['annotations']), ...checks.map((check) => objectOf(check['annotations'])), key];
    for (const annotations of all) {
      for (const [name, value] of Object.entries(annotations)) if (isMarkerKey(name)) result[name] = value;
    }
    for (const name of ['title', 'description', 'default']) if (key[name] !== undefined) result[name] = key[name];
    if (said.length > 0) result['allOf'] = [...objectsOf(result['allOf']), ...said];
    if (lost !== undefined) result[lostKey] = lost;
    return result;
  }

  #children(node: JsonObject, written: JsonObject, seen: ReadonlySet<unknown>): JsonObject {
    const result: JsonObject = { ...written };
    switch (tagOf(node)) {
      case 'Objects':
        this.#struct(node, result, seen);
        break;
      case 'Arrays':
        this.#list(node, result, seen);
        break;
      case 'Union':
        this.#union(node, result, seen);
        break;
      case 'Number':
        // The names of the numbers that JSON lacks.
        if (result['anyOf'] !== undefined) {
          delete result['anyOf'];
          result['type'] = 'number';
        }
        break;
    }
    return result;
  }

  #struct(node: JsonObject, result: JsonObject, seen: ReadonlySet<unknown>): void {
    const properties = objectOf(result['properties']);
    const signatures = objectsOf(node['indexSignatures']);
    if (result['type'] === undefined) {
      // A struct without fields, which in Effect allows anything but null.
      delete result['anyOf'];
      delete result['not'];
      result['type'] = 'object';
    }
    const fields = objectsOf(node['propertySignatures']).map(({ name, type }): [string, unknown] => [
      String(name),
      type,
    ]);
    if (fields.length > 0) {
      result['properties'] = Object.fromEntries(
        fields.map(([name, type]) => [name, this.node(type, objectOf(properties[name]), seen)]),
      );
      // Effect drops fields that a struct does not name, as the API server does.
      if (signatures.length === 0) delete result['additionalProperties'];
    }
    const [only] = signatures;
    const values = result['additionalProperties'];
    if (only !== undefined && isObject(values)) result['additionalProperties'] = this.node(only['type'], values, seen);
  }

  #list(node: JsonObject, result: JsonObject, seen: ReadonlySet<unknown>): void {
    const first = arrayOf(result['prefixItems']);
    // A list that has at least so many items.
    if (first.length > 0 && isObject(result['items']) && first.every((each) => equalJson(each, result['items']))) {
      delete result['prefixItems'];
    }
    const [rest] = arrayOf(node['rest']);
    if (rest !== undefined && isObject(result['items'])) result['items'] = this.node(rest, result['items'], seen);
  }

  #union(node: JsonObject, result: JsonObject, seen: ReadonlySet<unknown>): void {
    const types = arrayOf(node['types']);
    const parts = arrayOf(result['anyOf']);
    if (parts.length !== types.length) return;
    const walked = types.flatMap((type, index) =>
      tagOf(type) === 'Undefined' ? [] : [this.node(type, objectOf(parts[index]), seen)],
    );
    const [only] = walked;
    delete result['anyOf'];
    if (walked.length === 1 && only !== undefined) Object.assign(result, { ...only, ...result });
    else result['anyOf'] = walked;
  }
}

/** The JSON Schema that Effect writes of a schema, with its markers and checks; what is lost is marked. */
export function inspectEffect(source: object, written: JsonObject): JsonObject {
  const ast: unknown = Reflect.get(source, 'ast');
  const { $defs: definitions, ...schema } = written;
  const result = new Inspection(written).node(ast, schema, new Set());
  return definitions === undefined ? result : { ...result, $defs: definitions };
}
