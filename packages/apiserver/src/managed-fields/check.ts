import { isObject, jsonText } from '@kctl/crd/internal/engine';
import { formOf, type Atom, type ListAtom, type MapAtom, type Scalar } from './atom.js';
import { itemElement, ListItemError } from './list-items.js';
import { printElement } from './path-element.js';

/** Go's `%v` of a JSON value. */
function plain(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `[${value.map(plain).join(' ')}]`;
  if (!isObject(value)) return value === null ? '<nil>' : jsonText(value);
  const pairs = Object.keys(value).sort();
  return `map[${pairs.map((name) => `${name}:${plain(value[name])}`).join(' ')}]`;
}

/** Go's `%#v` of a JSON value. */
function syntax(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(syntax).join(', ')}}`;
  if (!isObject(value)) return jsonText(value);
  const pairs = Object.keys(value).sort();
  return `map[string]interface {}{${pairs.map((name) => `${JSON.stringify(name)}:${syntax(value[name])}`).join(', ')}}`;
}

function goType(value: unknown): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}

function scalarError(value: unknown, scalar: Scalar): string | undefined {
  if (value === null || value === undefined) return undefined;
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  switch (scalar) {
    case 'numeric':
      return isNumber ? undefined : `expected numeric (int or float), got ${goType(value)}`;
    case 'string':
      return typeof value === 'string'
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${syntax(value)}}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got &{${plain(value)}}`;
    case 'untyped':
      return typeof value === 'object' ? `expected any scalar, got &{${plain(value)}}` : undefined;
  }
}

/** Errors of a value by its type, each with its path; duplicates in lists included. */
export function typeErrors(value: unknown, atom: Atom, prefix = ''): string[] {
  const at = (message: string): string => (prefix === '' ? message : `${prefix}: ${message}`);
  const form = formOf(atom, value);
  if (form === 'scalar') {
    const error = scalarError(value, atom.scalar ?? 'untyped');
    return error === undefined ? [] : [at(error)];
  }
  if (value === null) return [];
  if (form === 'map' && atom.map !== undefined) {
    return isObject(value) ? fieldErrors(value, atom.map, prefix) : [at(`expected map, got &{${plain(value)}}`)];
  }
  if (atom.list === undefined) return [];
  return Array.isArray(value) ? itemErrors(value, atom.list, prefix) : [at(`expected list, got &{${plain(value)}}`)];
}

function fieldErrors(value: Readonly<Record<string, unknown>>, map: MapAtom, prefix: string): string[] {
  const errors: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    const path = `${prefix}.${name}`;
    const type = map.field(name)?.type ?? map.others;
    if (type === undefined) return [...errors, `${path}: field not declared in schema`];
    errors.push(...typeErrors(member, type, path));
  }
  return errors;
}

function itemErrors(items: readonly unknown[], list: ListAtom, prefix: string): string[] {
  if (list.isAtomic) return items.flatMap((item, index) => typeErrors(item, list.items, `${prefix}[${index}]`));
  const errors: string[] = [];
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    try {
      const element = itemElement(list, item);
      const printed = printElement(element);
      if (seen.has(element)) errors.push(`${prefix}: duplicate entries for key ${printed}`);
      seen.add(element);
      errors.push(...typeErrors(item, list.items, `${prefix}${printed}`));
    } catch (error) {
      if (!(error instanceof ListItemError)) throw error;
      return [...errors, `${prefix}: element ${index}: ${error.message}`];
    }
  }
  return errors;
}

const duplicate = /: duplicate entries for key /;

/** As {@link typeErrors}; duplicates in lists are let pass, as they may be in objects that exist. */
export function liveTypeErrors(value: unknown, atom: Atom): string[] {
  return typeErrors(value, atom).filter((error) => !duplicate.test(error));
}

/** Whether a value conforms to its type, except for duplicates. */
export function isOfType(value: unknown, atom: Atom): boolean {
  return liveTypeErrors(value, atom).length === 0;
}

/** Errors as upstream prints several of them. */
export function printErrors(errors: readonly string[]): string {
  return errors.length === 1 ? (errors[0] ?? '') : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n');
}
