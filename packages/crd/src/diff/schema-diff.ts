import {
  arrayOf,
  equalJson,
  isObject,
  objectsOf,
  stringOf,
  stringsOf,
  type JsonObject,
} from '../engine/values/json.js';
import { withOwnEnum } from '../structural/nullable-enum.js';
import type { Note } from './changes.js';

const lower = ['minimum', 'minLength', 'minItems', 'minProperties'];
const upper = ['maximum', 'maxLength', 'maxItems', 'maxProperties'];

function shown(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value);
}

function child(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function typeOf(schema: JsonObject): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'int-or-string';
  return stringOf(schema['type']) || 'any';
}

const widenings: ReadonlySet<string> = new Set(['integer number', 'integer int-or-string', 'string int-or-string']);

function diffTypes(old: JsonObject, next: JsonObject, path: string, note: Note): boolean {
  const [before, after] = [typeOf(old), typeOf(next)];
  if (before === after) return true;
  if (widenings.has(`${before} ${after}`) || after === 'any') {
    note('compatible', path, `type ${before} becomes ${after}`);
    // Bounds of the narrower type may have become tighter with it. The notation of a type is not a bound.
    diffBounds(old, next, path, note);
    diffEnum(old, next, path, note);
    diffConstraints(withoutTypes(old), withoutTypes(next), path, note);
    return false;
  }
  note('breaking', path, `type ${before} becomes ${after}`);
  return false;
}

function withoutTypes(schema: JsonObject): JsonObject {
  const { anyOf: alternatives, format: _format, ...rest } = schema;
  return schema['x-kubernetes-int-or-string'] === true ? rest : { ...rest, anyOf: alternatives };
}

function diffBounds(old: JsonObject, next: JsonObject, path: string, note: Note): void {
  for (const [names, isTighter] of [
    [lower, (a: number, b: number): boolean => b > a],
    [upper, (a: number, b: number): boolean => b < a],
  ] as const) {
    for (const name of names) {
      const [before, after] = [old[name], next[name]];
      const exclusive = `exclusive${name.charAt(0).toUpperCase()}${name.slice(1)}`;
      const isClosed = old[exclusive] !== true && next[exclusive] === true;
      if (equalJson(before, after) && old[exclusive] === next[exclusive]) continue;
      const isNarrower =
        typeof after === 'number' &&
        (typeof before !== 'number' || isTighter(before, after) || (before === after && isClosed));
      note(isNarrower ? 'narrowing' : 'compatible', path, `${name} ${shown(before)} becomes ${shown(after)}`);
    }
  }
}

function diffEnum(old: JsonObject, next: JsonObject, path: string, note: Note): void {
  if (equalJson(old['enum'], next['enum'])) return;
  const [before, after] = [arrayOf(old['enum']), arrayOf(next['enum'])];
  if (next['enum'] === undefined) {
    note('compatible', path, 'enum is removed');
    return;
  }
  if (old['enum'] === undefined) {
    note('narrowing', path, `enum ${shown(after)} is added`);
    return;
  }
  const removed = before.filter((value) => !after.some((each) => equalJson(each, value)));
  if (removed.length > 0) note('narrowing', path, `enum values ${removed.map(shown).join(', ')} are removed`);
  const added = after.filter((value) => !before.some((each) => equalJson(each, value)));
  if (added.length > 0) note('compatible', path, `enum values ${added.map(shown).join(', ')} are added`);
}

function diffConstraints(old: JsonObject, next: JsonObject, path: string, note: Note): void {
  for (const name of ['pattern', 'format', 'multipleOf', 'allOf', 'anyOf', 'oneOf', 'not']) {
    if (equalJson(old[name], next[name])) continue;
    const isGone = next[name] === undefined;
    note(
      isGone ? 'compatible' : 'narrowing',
      path,
      isGone ? `${name} is removed` : `${name} becomes ${shown(next[name])}`,
    );
  }
  if (old['nullable'] !== next['nullable']) {
    const isNow = next['nullable'] === true;
    note(isNow ? 'compatible' : 'narrowing', path, isNow ? 'null is allowed' : 'null is no longer allowed');
  }
  if (!equalJson(old['default'], next['default'])) {
    note('compatible', path, `default ${shown(old['default'])} becomes ${shown(next['default'])}`);
  }
  const key = 'x-kubernetes-validations';
  const [before, after] = [objectsOf(old[key]), objectsOf(next[key])];
  // A rule that runs on create, too, refuses more.
  const rulesOf = (rules: readonly JsonObject[]): string[] =>
    rules.map(({ rule, optionalOldSelf }) => `${stringOf(rule)}${optionalOldSelf === true ? ' (also on create)' : ''}`);
  for (const rule of rulesOf(after)) {
    if (!rulesOf(before).includes(rule)) note('narrowing', path, `rule ${shown(rule)} is added`);
  }
  for (const rule of rulesOf(before)) {
    if (!rulesOf(after).includes(rule)) note('compatible', path, `rule ${shown(rule)} is removed`);
  }
}

function diffExtensions(old: JsonObject, next: JsonObject, path: string, note: Note): void {
  const names = [
    'x-kubernetes-list-type',
    'x-kubernetes-list-map-keys',
    'x-kubernetes-map-type',
    'x-kubernetes-embedded-resource',
  ];
  const defaults: JsonObject = {
    'x-kubernetes-list-type': 'atomic',
    'x-kubernetes-map-type': 'granular',
    'x-kubernetes-embedded-resource': false,
  };
  for (const name of names) {
    const [before, after] = [old[name] ?? defaults[name], next[name] ?? defaults[name]];
    if (!equalJson(before, after)) note('breaking', path, `${name} ${shown(before)} becomes ${shown(after)}`);
  }
  const key = 'x-kubernetes-preserve-unknown-fields';
  if (old[key] === true && next[key] !== true) note('breaking', path, 'unknown fields are no longer kept');
  if (old[key] !== true && next[key] === true) note('compatible', path, 'unknown fields are kept');
}

function diffProperties(old: JsonObject, next: JsonObject, path: string, note: Note): void {
  const before = isObject(old['properties']) ? old['properties'] : {};
  const after = isObject(next['properties']) ? next['properties'] : {};
  const isOpen = next['x-kubernetes-preserve-unknown-fields'] === true;
  const catchAll = next['additionalProperties'];
  for (const [name, schema] of Object.entries(before)) {
    const later = after[name] ?? (isObject(catchAll) ? catchAll : undefined);
    if (isObject(later)) diffSchemas(isObject(schema) ? schema : {}, later, child(path, name), note);
    else if (isOpen || catchAll === true)
      note('compatible', child(path, name), 'field is no longer described, and kept');
    else note('breaking', child(path, name), 'field is removed: stored values are dropped');
  }
  for (const name of Object.keys(after)) {
    if (Object.hasOwn(before, name)) continue;
    const values = old['additionalProperties'];
    const wasOpen = old['x-kubernetes-preserve-unknown-fields'] === true || values === true;
    const later = after[name];
    if (isObject(values) && isObject(later)) diffSchemas(values, later, child(path, name), note);
    else if (wasOpen) note('narrowing', child(path, name), 'field was kept as it is, and has a type');
    else note('compatible', child(path, name), 'field is added');
  }
  const [wanted, now] = [stringsOf(old['required']), stringsOf(next['required'])];
  const hasDefaultIn = (properties: JsonObject, name: string): boolean => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return isObject(property) && property['default'] !== undefined;
  };
  for (const name of now) {
    const hasDefault = hasDefaultIn(after, name);
    if (wanted.includes(name)) {
      if (hasDefaultIn(before, name) && !hasDefault)
        note('narrowing', child(path, name), 'field is required, and no longer has a default');
    } else if (hasDefault) note('compatible', child(path, name), 'field is required, and has a default');
    else note('breaking', child(path, name), 'field is required, without a default');
  }
  for (const name of wanted) {
    if (!now.includes(name) && name in after) note('compatible', child(path, name), 'field is no longer required');
  }
}

/** Notes what differs between two structural schemas. Descriptions, titles and examples are not compared. */
export function diffSchemas(before: JsonObject, after: JsonObject, path: string, note: Note): void {
  if (equalJson(before, after)) return;
  const [old, next] = [withOwnEnum(before), withOwnEnum(after)];
  if (!diffTypes(old, next, path, note)) return;
  diffBounds(old, next, path, note);
  diffEnum(old, next, path, note);
  diffConstraints(old, next, path, note);
  diffExtensions(old, next, path, note);
  diffProperties(old, next, path, note);
  const pairs = [
    ['items', `${path}[]`],
    ['additionalProperties', `${path}{}`],
  ] as const;
  for (const [keyword, place] of pairs) {
    const [was, is] = [old[keyword], next[keyword]];
    if (isObject(was) && isObject(is)) diffSchemas(was, is, place, note);
    else if (keyword === 'additionalProperties' && (isObject(was) || was === true)) {
      const isOpen = is === true || next['x-kubernetes-preserve-unknown-fields'] === true;
      if (!isOpen && !isObject(is))
        note('breaking', place, 'map becomes an object: entries that it does not name are dropped');
      else if (isObject(is)) note('narrowing', place, 'entries of any type become entries of one type');
    }
  }
}
