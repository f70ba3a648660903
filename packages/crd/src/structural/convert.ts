import { matchesFormat } from '../engine/schema/formats/formats.js';
import { compilePattern } from '../engine/schema/pattern.js';
import {
  cloneJson,
  equalJson,
  isObject,
  objectsOf,
  stringOf,
  stringsOf,
  type JsonObject,
} from '../engine/values/json.js';
import { immutableKey, keptOnceSet, markers, rulesOf } from '../markers/markers.js';
import { writeJsonSchema } from '../source/json-schema.js';
import { libraryOnlyKey, lostKey } from '../source/zod-inspection.js';
import type { FieldSettings } from './field-settings.js';
import { flatten, limitsTypes, problemOf } from './flatten.js';
import { takeNull } from './nullable-enum.js';
import { anyName, plain, silent } from './keywords.js';
import { convertNumbers } from './numbers.js';
import { remedies, unionRemedy } from './remedies.js';
import type { Report } from './report.js';
import { typeOfValues, unionOf } from './unions.js';

const numericFormats: ReadonlySet<string> = new Set(['int32', 'int64', 'float', 'double']);

/** Descriptions of lost parts that need more than one word. */
const lostNames: Readonly<Record<string, string>> = {
  url: 'the host name or protocol of a URL',
  default: 'a default that differs with each call',
};

interface Place {
  /** `spec.parts[].name`. */
  readonly path: string;
  /** References that are being followed. */
  readonly seen: readonly string[];
  /** Whether the schema is below allOf, anyOf, oneOf or not, which may have only constraints. */
  readonly isNested: boolean;
}

/** Turns the JSON Schema of one type into a structural schema, the only form that a CustomResourceDefinition takes. */
export class Converter {
  readonly #root: JsonObject;
  readonly #report: Report;
  readonly #label: string;
  readonly #fields: FieldSettings;
  /** Results whose value cannot change once it is set. */
  readonly #immutable = new WeakSet<JsonObject>();

  /** @param label prefix of the paths of problems, which is the name of the version */
  constructor(root: JsonObject, fields: FieldSettings, report: Report, label: string) {
    this.#root = root;
    this.#fields = fields;
    this.#report = report;
    this.#label = label;
  }

  convert(path: string): JsonObject {
    return this.#node(this.#root, { path, seen: ['#'], isNested: false });
  }

  /** Settings for a field by its path override the library's output. */
  #withSettings(written: JsonObject, place: Place): JsonObject {
    const setting = place.isNested ? undefined : this.#fields.take(place.path);
    if (setting === undefined) return written;
    const { type, [lostKey]: _lost, ...rest } = written;
    const isRetyped = setting['type'] !== undefined || setting['x-kubernetes-int-or-string'] === true;
    return markers(isRetyped || type === undefined ? rest : written, setting);
  }

  /** A field whose schema is given by its path, instead of the library's. */
  #replaced(place: Place): JsonObject | undefined {
    const source = place.isNested ? undefined : this.#fields.takeSchema(place.path);
    if (source === undefined) return undefined;
    const written = writeJsonSchema(source);
    if ('problem' in written) return this.#refuse(place, undefined, written.problem, remedies.otherLoss);
    const inner = new Converter(written.schema, this.#fields, this.#report, this.#label);
    const result = inner.convert(place.path);
    if (inner.#immutable.has(result)) this.#immutable.add(result);
    return result;
  }

  #field(path: string): string {
    return this.#label === '' ? path : `${this.#label} ${path}`.trimEnd();
  }

  #refuse(place: Place, value: unknown, problem: string, remedy: string): JsonObject {
    this.#report.problems.push({ field: this.#field(place.path), value, problem, remedy });
    return { type: 'object' };
  }

  #warn(place: Place, text: string): void {
    this.#report.warnings.push(`${this.#field(place.path)}: ${text}`);
  }

  #node(source: JsonObject, place: Place): JsonObject {
    const replaced = this.#replaced(place);
    if (replaced !== undefined) return replaced;
    const flat = flatten(source, { root: this.#root, seen: place.seen, isNested: place.isNested });
    if (!('schema' in flat)) return this.#unflattened(place, problemOf(flat));
    const inner = { ...place, seen: flat.seen };
    const lifted = this.#withSettings(flat.schema, inner);
    this.#checkLost(lifted, inner);
    const schema = this.#unions(lifted, inner);
    const result = this.#typed(schema, inner);
    // A schema that may have only constraints never receives null.
    const isNullable = flat.takesNull && (limitsTypes(source) || source['nullable'] === true) && !place.isNested;
    if (isNullable || schema['nullable'] === true) takeNull(result);
    if (lifted[immutableKey] === true) this.#immutable.add(result);
    return result;
  }

  #unflattened(place: Place, { kind, value }: ReturnType<typeof problemOf>): JsonObject {
    if (kind === 'missing')
      return this.#refuse(place, value, 'the reference leads nowhere', 'write the type in its place');
    if (kind === 'recursive')
      return this.#refuse(place, value, 'a recursive type cannot be a structural schema', remedies.recursive);
    return this.#refuse(place, value, 'an intersection of types that contradict one another', remedies.intersection);
  }

  #checkLost(schema: JsonObject, place: Place): void {
    const lost = schema[lostKey];
    if (lost === undefined) return;
    const name = stringOf(lost);
    const isCheck = name === 'refine' || name === 'predicate' || name === 'url';
    if (isCheck && schema[libraryOnlyKey] === true) return;
    const isFlag = name.startsWith('regular expression flags');
    const remedy = isFlag ? remedies.flags : (remedies.lost[name] ?? remedies.otherLoss);
    const what = lostNames[name] ?? name;
    this.#refuse(place, undefined, `${what} cannot be said in a structural schema`, remedy);
  }

  /** Unions that a structural schema can express. */
  #unions(source: JsonObject, place: Place): JsonObject {
    let schema = source;
    for (const junctor of ['anyOf', 'oneOf'] as const) {
      if (objectsOf(schema[junctor]).length === 0 || place.isNested) continue;
      const union = unionOf(schema, junctor);
      if ('refused' in union) {
        const types = union.refused.map(({ type }) => type ?? 'any');
        const text = 'a union of types cannot be a structural schema';
        return this.#refuse(place, types, text, unionRemedy(union.refused));
      }
      if (union.lostFormat !== undefined)
        this.#warn(place, `format ${JSON.stringify(union.lostFormat)} of an int-or-string is left out`);
      schema = union.schema;
    }
    return schema;
  }

  #typed(schema: JsonObject, place: Place): JsonObject {
    const result: JsonObject = {};
    for (const keyword of plain) if (schema[keyword] !== undefined) result[keyword] = cloneJson(schema[keyword]);
    if (schema['default'] === null) delete result['default'];
    this.#examples(schema, result);
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword.startsWith('x-kubernetes-')) result[keyword] = cloneJson(value);
    }
    this.#enum(schema, result, place);
    const type = this.#typeOf(schema, place);
    if (type !== undefined && !place.isNested) result['type'] = type;
    const numbers = convertNumbers({ ...schema, type });
    Object.assign(result, numbers.bounds);
    this.#text(schema, numbers.format, result, place);
    this.#constraints(schema, result, place);
    if (type === 'object' || (place.isNested && isObject(schema['properties']))) this.#object(schema, result, place);
    if (type === 'array' || (place.isNested && schema['items'] !== undefined)) this.#array(schema, result, place);
    if (type === undefined && !place.isNested) this.#untyped(result);
    this.#leftOver(schema, place);
    return result;
  }

  #examples(schema: JsonObject, result: JsonObject): void {
    const { examples } = schema;
    if (result['example'] === undefined && Array.isArray(examples) && examples.length > 0) {
      result['example'] = cloneJson<unknown>(examples[0]);
    }
  }

  #enum(schema: JsonObject, result: JsonObject, place: Place): void {
    const values: unknown = schema['const'] === undefined ? schema['enum'] : [schema['const']];
    if (!Array.isArray(values)) return;
    if (values.length === 0) this.#refuse(place, values, 'an enum without values', 'name at least one value');
    result['enum'] = cloneJson<unknown>(values);
  }

  #typeOf(schema: JsonObject, place: Place): string | undefined {
    const { type } = schema;
    if (schema['x-kubernetes-int-or-string'] === true) return undefined;
    if (typeof type === 'string') {
      if (type !== 'null') return type;
      this.#refuse(place, 'null', 'a value that is always null cannot be a structural schema', 'leave the field out');
      return 'object';
    }
    if (Array.isArray(type)) {
      if (type.length === 2 && type.includes('integer') && type.includes('string')) return undefined;
      this.#refuse(place, type, 'several types cannot be a structural schema', remedies.union);
      return 'object';
    }
    if (isObject(schema['properties'])) return 'object';
    if (schema['items'] !== undefined) return 'array';
    return this.#typeOfValues(schema, place);
  }

  #typeOfValues(schema: JsonObject, place: Place): string | undefined {
    const values: unknown = schema['const'] === undefined ? schema['enum'] : [schema['const']];
    if (!Array.isArray(values) || place.isNested) return undefined;
    const type = typeOfValues(values);
    if (type !== undefined) return type;
    this.#refuse(place, values, 'an enum of several types cannot be a structural schema', 'give all values one type');
    return 'object';
  }

  #text(schema: JsonObject, numberFormat: string | undefined, result: JsonObject, place: Place): void {
    const { pattern } = schema;
    const format = numberFormat ?? schema['format'];
    if (typeof pattern === 'string') {
      const compiled = compilePattern(pattern);
      if ('problem' in compiled)
        this.#refuse(place, pattern, `the pattern is not RE2: ${compiled.problem}`, remedies.pattern);
      else result['pattern'] = pattern;
    }
    if (typeof format !== 'string' || format === '') return;
    const isKnown = numericFormats.has(format) || matchesFormat(format, '') !== undefined;
    if (isKnown) result['format'] = format;
    else if (typeof pattern !== 'string' && objectsOf(schema['allOf']).length === 0) {
      result['format'] = format;
      this.#warn(
        place,
        `format ${JSON.stringify(format)} is not known to the API server, which does not check it: add a pattern`,
      );
    }
  }

  #constraints(schema: JsonObject, result: JsonObject, place: Place): void {
    for (const junctor of ['allOf', 'anyOf', 'oneOf'] as const) {
      const parts = objectsOf(schema[junctor]);
      if (parts.length === 0) continue;
      if (schema['x-kubernetes-int-or-string'] === true && junctor === 'anyOf') continue;
      result[junctor] = parts.map((part) => this.#node(part, { ...place, isNested: true }));
    }
    if (schema['x-kubernetes-int-or-string'] === true) result['anyOf'] = [{ type: 'integer' }, { type: 'string' }];
    const { not } = schema;
    if (!isObject(not)) return;
    if (not['type'] !== undefined && not['type'] !== result['type'])
      this.#refuse(place, not, 'a value that is not of another type', 'leave out the type below not');
    else if (Object.keys(not).length === 0)
      this.#refuse(place, not, 'a field that cannot have a value', 'leave the field out');
    else result['not'] = this.#node(not, { ...place, isNested: true });
  }

  #object(schema: JsonObject, result: JsonObject, place: Place): void {
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const names = Object.keys(properties);
    const child = (name: string): Place => ({ ...place, path: place.path === '' ? name : `${place.path}.${name}` });
    if (names.length > 0) {
      result['properties'] = Object.fromEntries(
        names.map((name) => {
          const property = properties[name];
          return [name, isObject(property) ? this.#node(property, child(name)) : this.#schemaless()];
        }),
      );
    }
    const required = stringsOf(schema['required']).filter((name) => place.isNested || names.includes(name));
    if (required.length > 0) result['required'] = [...new Set(required)].sort();
    this.#keepImmutable(result, required);
    this.#map(schema, result, { names, place });
  }

  /** An optional immutable field cannot be removed either, because its rule does not run without it. */
  #keepImmutable(result: JsonObject, required: readonly string[]): void {
    const properties = isObject(result['properties']) ? result['properties'] : {};
    const kept = Object.keys(properties).filter((name) => {
      const property = properties[name];
      return isObject(property) && this.#immutable.has(property) && !required.includes(name);
    });
    if (kept.length === 0) return;
    result['x-kubernetes-validations'] = [...kept.flatMap((name) => rulesOf(keptOnceSet(name))), ...rulesOf(result)];
  }

  #map(schema: JsonObject, result: JsonObject, { names, place }: { names: readonly string[]; place: Place }): void {
    const { propertyNames } = schema;
    const additional = anyName(schema) ?? schema['additionalProperties'];
    if (isObject(propertyNames) && !this.#namesAreFree(propertyNames)) {
      this.#refuse(
        place,
        propertyNames,
        'the names of a map cannot be limited by a structural schema',
        remedies.propertyNames,
      );
    }
    if (additional === undefined || additional === false) return;
    const isOpen = additional === true || (isObject(additional) && Object.keys(additional).length === 0);
    if (isOpen && propertyNames === undefined) {
      result['x-kubernetes-preserve-unknown-fields'] = true;
    } else if (names.length > 0) {
      this.#refuse(place, additional, 'named properties and a catch-all exclude one another', remedies.catchAll);
    } else {
      result['additionalProperties'] = isObject(additional)
        ? this.#node(additional, { ...place, path: `${place.path}{}` })
        : this.#schemaless();
    }
  }

  #namesAreFree(propertyNames: JsonObject): boolean {
    return Object.entries(propertyNames).every(
      ([keyword, value]) => keyword === '$schema' || equalJson([keyword, value], ['type', 'string']),
    );
  }

  #array(schema: JsonObject, result: JsonObject, place: Place): void {
    const { items, prefixItems } = schema;
    if (prefixItems !== undefined || Array.isArray(items)) {
      this.#refuse(place, prefixItems ?? items, 'a tuple cannot be a structural schema', remedies.tuple);
      return;
    }
    if (schema['uniqueItems'] === true) {
      this.#refuse(place, true, 'uniqueItems is not allowed in a CustomResourceDefinition', remedies.uniqueItems);
    }
    result['items'] = isObject(items) ? this.#node(items, { ...place, path: `${place.path}[]` }) : this.#schemaless();
  }

  #schemaless(): JsonObject {
    return { 'x-kubernetes-preserve-unknown-fields': true };
  }

  #untyped(result: JsonObject): void {
    if (result['x-kubernetes-int-or-string'] !== true) result['x-kubernetes-preserve-unknown-fields'] = true;
  }

  #leftOver(schema: JsonObject, place: Place): void {
    for (const [keyword, value] of Object.entries(schema)) {
      if (
        silent.has(keyword) ||
        keyword.startsWith('x-kubernetes-') ||
        keyword === 'uniqueItems' ||
        keyword === 'prefixItems'
      )
        continue;
      if (keyword === 'patternProperties' && anyName(schema) !== undefined) continue;
      const refused = remedies.keywords[keyword];
      if (refused === undefined) this.#warn(place, `keyword ${JSON.stringify(keyword)} is left out`);
      else this.#refuse(place, value, `${keyword} cannot be said in a structural schema`, refused);
    }
  }
}
