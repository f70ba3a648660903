import { Correlation } from '@kctl/cel/internal';
import {
  invalidValue,
  notSupportedText,
  required,
  tooLong,
  tooMany,
  typeInvalid,
  type FieldError,
} from '../values/field-error.js';
import { compareText, equalJson, isObject } from '../values/json.js';
import { jsonText } from '../values/json-text.js';
import { fingerprint } from './fingerprint.js';
import { matchesFormat } from './formats/formats.js';
import { isConvertedTo, isNearInteger, numberErrors } from './numbers.js';
import { jsonTypeOf, type Schema } from './schema.js';

/** Errors and the number of passed checks. Among the alternatives of anyOf and oneOf the closest match is reported. */
interface Findings {
  readonly errors: FieldError[];
  matches: number;
  /** Shared by all attempts at one value. */
  readonly cost: Cost;
}

/** Budget for the patterns of one object, about 50 ms, so that one request does not block the others. */
interface Cost {
  left: number;
}

const maxPatternSteps = 2 ** 25;

/** Position of a value, with the path in messages, and a prefix for the field of a cause. */
interface Place {
  readonly path: string;
  readonly prefix: string;
  /** The value here with the stored one, if one corresponds. */
  readonly stored: Correlation | undefined;
}

function fieldOf({ path, prefix }: Place, suffix = ''): string {
  const own = (path + suffix).replace(/^\./, '');
  if (prefix === '') return own === '' ? '<nil>' : own;
  return own === '' ? prefix : `${prefix}.${own}`;
}

/** An error that upstream reports without a path. */
function composite(place: Place, message: string): FieldError {
  return {
    reason: 'FieldValueInvalid',
    field: place.prefix === '' ? '<nil>' : place.prefix,
    message: `Invalid value: "": ${message}`,
  };
}

/**
 * Validates a value as the API server validates a custom resource, with the same causes, same messages, and properties
 * in sorted order. `prefix` precedes the fields of the causes. With `old`, errors in parts that have not changed do not
 * reject an update (ratcheting).
 */
export function validateValue(value: unknown, schema: Schema, prefix = '', old?: unknown): FieldError[] {
  const findings: Findings = { errors: [], matches: 0, cost: { left: maxPatternSteps } };
  const stored = old === undefined ? undefined : new Correlation(value, old, schema);
  visit(value, schema, { path: '', prefix, stored }, findings);
  return findings.errors;
}

function visit(value: unknown, schema: Schema, place: Place, findings: Findings): void {
  findings.matches += 1;
  if (place.stored?.isUnchanged === true) return;
  if (value === null || value === undefined) {
    checkNull(schema, place, findings);
    checkEnum(value, schema, place, findings);
    return;
  }
  checkType(value, schema, place, findings);
  checkJunctors(value, schema, place, findings);
  if (typeof value === 'string') checkString(value, schema, place, findings);
  else if (typeof value === 'number' || typeof value === 'bigint') {
    const field = fieldOf(place);
    const placeless = (message: string): FieldError => composite(place, message);
    const at = { path: place.path, field, format: checkedFormat(schema), placeless };
    findings.errors.push(...numberErrors(value, schema, at));
  } else if (Array.isArray(value)) checkArray(value, schema, place, findings);
  checkEnum(value, schema, place, findings);
  if (isObject(value)) checkObject(value, schema, place, findings);
}

function expectedTypes(schema: Schema): readonly string[] {
  if (schema.intOrString === true) return ['integer', 'string'];
  return schema.type === undefined ? [] : [schema.type];
}

function checkNull(schema: Schema, place: Place, findings: Findings): void {
  const types = expectedTypes(schema);
  if (types.length === 0 || schema.nullable === true) return;
  const text = `${place.path} in body must be of type ${types.join(',')}: "null"`;
  findings.errors.push(typeInvalid(fieldOf(place), 'null', text));
}

/** The format of a schema, if the server supports it for the type; others are dropped when a definition is read. */
function checkedFormat({ type, format }: Schema): string | undefined {
  if (format === undefined) return undefined;
  if (type !== undefined && type !== 'string') return formatsOf[type]?.includes(format) === true ? format : undefined;
  return matchesFormat(format, '') === undefined ? undefined : format;
}

const formatsOf: Readonly<Partial<Record<string, readonly string[]>>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** Returns what upstream's validator prints for the format of a value, which is the name of Go's type of a number. */
function goFormatOf(value: unknown): string {
  if (typeof value !== 'number' && typeof value !== 'bigint') return '';
  return jsonTypeOf(value) === 'integer' ? 'int64' : 'float64';
}

function checkType(value: unknown, schema: Schema, place: Place, findings: Findings): void {
  const types = expectedTypes(schema);
  if (types.length === 0) return;
  const actual = jsonTypeOf(value);
  const isNear = types.includes('integer') && typeof value === 'number' && isNearInteger(value);
  if (types.includes(actual) || isNear || (actual === 'integer' && types.includes('number'))) {
    findings.matches += 1;
    return;
  }
  const format = checkedFormat(schema);
  const isText = typeof value === 'string' || Array.isArray(value);
  const isNumeric = types.includes('number') || types.includes('integer');
  if (format !== undefined && isText && !isNumeric) {
    // Upstream leaves strings to the check of the format, and lists with them.
    findings.matches += 1;
    return;
  }
  const [wanted, given] = format !== undefined && !isText ? [format, goFormatOf(value)] : [types.join(','), actual];
  const text = `${place.path} in body must be of type ${wanted}: ${JSON.stringify(given)}`;
  findings.errors.push(typeInvalid(fieldOf(place), given, text));
}

function tryOut(value: unknown, schema: Schema, place: Place, cost: Cost): Findings {
  const findings: Findings = { errors: [], matches: 0, cost };
  visit(value, schema, place, findings);
  return findings;
}

function nearest(all: readonly Findings[]): Findings | undefined {
  return all.reduce<Findings | undefined>(
    (best, each) => (best === undefined || each.matches > best.matches ? each : best),
    undefined,
  );
}

function checkJunctors(value: unknown, schema: Schema, place: Place, findings: Findings): void {
  const name = JSON.stringify(place.path);
  if (schema.anyOf !== undefined) {
    const results = schema.anyOf.map((part) => tryOut(value, part, place, findings.cost));
    if (!results.some((result) => result.errors.length === 0)) {
      findings.errors.push(composite(place, `${name} must validate at least one schema (anyOf)`));
      findings.errors.push(...(nearest(results)?.errors ?? []));
    }
  }
  if (schema.oneOf !== undefined) {
    const results = schema.oneOf.map((part) => tryOut(value, part, place, findings.cost));
    const valid = results.filter((result) => result.errors.length === 0).length;
    if (valid !== 1) {
      const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
      findings.errors.push(composite(place, `${name} must validate one and only one schema (oneOf). ${found}`));
      if (valid === 0) findings.errors.push(...(nearest(results)?.errors ?? []));
    }
  }
  if (schema.allOf !== undefined) {
    const results = schema.allOf.map((part) => tryOut(value, part, place, findings.cost));
    for (const result of results) findings.errors.push(...result.errors);
    const valid = results.filter((result) => result.errors.length === 0).length;
    if (valid !== results.length) {
      const none = valid === 0 ? '. None validated' : '';
      findings.errors.push(composite(place, `${name} must validate all the schemas (allOf)${none}`));
    }
  }
  if (schema.not !== undefined && tryOut(value, schema.not, place, findings.cost).errors.length === 0) {
    findings.errors.push(composite(place, `${name} must not validate the schema (not)`));
  }
}

function checkString(value: string, schema: Schema, place: Place, findings: Findings): void {
  const { minLength, maxLength, pattern } = schema;
  const format = checkedFormat(schema);
  if (minLength !== undefined || maxLength !== undefined) {
    const length = Array.from(value).length;
    if (maxLength !== undefined && length > maxLength) {
      findings.errors.push(tooLong(fieldOf(place), maxLength));
      return;
    }
    if (minLength !== undefined && length < minLength) {
      const text = `${place.path} in body should be at least ${minLength} chars long`;
      findings.errors.push(invalidValue(fieldOf(place), value, text));
      return;
    }
  }
  if (pattern !== undefined) {
    findings.cost.left -= pattern.size * value.length;
    if (findings.cost.left < 0) {
      const text = `${place.path} in body is too long to be matched with '${pattern.source}'`;
      findings.errors.push(invalidValue(fieldOf(place), `${value.slice(0, 100)}...`, text));
      return;
    }
  }
  if (pattern !== undefined && !pattern.test(value)) {
    const text = `${place.path} in body should match '${pattern.source}'`;
    findings.errors.push(invalidValue(fieldOf(place), value, text));
    return;
  }
  if (format !== undefined && matchesFormat(format, value) === false) {
    const text = `${place.path} in body must be of type ${format}: ${JSON.stringify(value)}`;
    findings.errors.push(typeInvalid(fieldOf(place), value, text));
  }
}

function checkArray(value: readonly unknown[], schema: Schema, place: Place, findings: Findings): void {
  const { items, minItems, maxItems } = schema;
  if (items !== undefined) {
    for (const [index, item] of value.entries()) {
      const path = `${place.path}[${index}]`;
      visit(item, items, { path, prefix: place.prefix, stored: place.stored?.item(index) }, findings);
    }
  }
  if (minItems !== undefined && value.length < minItems) {
    const text = `${place.path} in body should have at least ${minItems} items`;
    findings.errors.push(invalidValue(fieldOf(place), value.length, text));
  }
  if (maxItems !== undefined && value.length > maxItems) {
    findings.errors.push(tooMany(fieldOf(place), value.length, maxItems));
  }
  if (schema.uniqueItems === true && new Set(value.map(fingerprint)).size < value.length) {
    findings.errors.push(invalidValue(fieldOf(place), '', `${place.path} in body shouldn't contain duplicates`));
  }
}

function checkEnum(value: unknown, schema: Schema, place: Place, findings: Findings): void {
  // Upstream never accepts null as one of the values, even if it is nullable or listed.
  if (
    schema.enum === undefined ||
    (value !== null && schema.enum.some((each) => equalJson(each, value) || isConvertedTo(value, each)))
  )
    return;
  const supported = schema.enum.map((each) => (typeof each === 'string' ? each : jsonText(each)));
  findings.errors.push(notSupportedText(fieldOf(place), value, supported));
}

function checkObject(value: Record<string, unknown>, schema: Schema, place: Place, findings: Findings): void {
  const { properties, additional, minProperties, maxProperties } = schema;
  const child = (name: string): Place => ({
    path: place.path === '' ? name : `${place.path}.${name}`,
    prefix: place.prefix,
    // A change of the root's type is not seen, because both are converted to one version.
    stored: place.path === '' && (name === 'kind' || name === 'apiVersion') ? undefined : place.stored?.property(name),
  });
  if (minProperties !== undefined || maxProperties !== undefined) {
    const count = Object.keys(value).length;
    if (minProperties !== undefined && count < minProperties) {
      const text = `${place.path} in body should have at least ${minProperties} properties`;
      findings.errors.push(invalidValue(fieldOf(place), count, text));
    }
    if (maxProperties !== undefined && count > maxProperties) {
      findings.errors.push(tooMany(fieldOf(place), count, maxProperties));
    }
  }
  if (schema.isClosed === true) {
    for (const name of Object.keys(value).sort(compareText)) {
      if (properties?.has(name) === true) continue;
      const text = `${place.path}.${name} in body is a forbidden property`;
      findings.errors.push(invalidValue(fieldOf(place), name, text));
    }
  } else if (additional !== undefined && additional !== true) {
    for (const name of Object.keys(value).sort(compareText)) {
      if (properties?.has(name) !== true) visit(value[name], additional, child(name), findings);
    }
  }
  if (properties !== undefined) {
    for (const name of properties.keys()) {
      // Properties that the value does not have are not compiled.
      const property = Object.hasOwn(value, name) ? properties.get(name) : undefined;
      if (property !== undefined) visit(value[name], property, child(name), findings);
    }
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) findings.errors.push(required(fieldOf(place, `.${name}`)));
    else findings.matches += 1;
  }
}
