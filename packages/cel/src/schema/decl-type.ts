import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  stringType,
  structType,
  timestampType,
  type CelType,
} from '../types/type.js';
import { escapeField } from './escape.js';
import { withTypeAndObjectMeta, type StructuralSchema } from './structural.js';

/** The largest request that the API server accepts, in bytes. It bounds values without bounds in their schema. */
export const maxRequestSize: number = 3 * 1024 * 1024;

/** A schema as CEL sees it, with a type and the maximum size of its values. */
export interface DeclType {
  readonly type: CelType;
  /** The most elements, entries or bytes that a value can have; 0 if that does not apply, as upstream has it. */
  readonly maxElements: number;
  readonly minSerializedSize: number;
  readonly fields?: ReadonlyMap<string, DeclType>;
  readonly element?: DeclType;
  /** Key type of a map. */
  readonly key?: DeclType;
}

function plain(type: CelType, minSerializedSize: number, maxElements = 0): DeclType {
  return { type, minSerializedSize, maxElements };
}

const unboundedText = maxRequestSize - 2;
const keyType = plain(stringType, 2);

function textDecl(schema: StructuralSchema): DeclType {
  const { format, maxLength } = schema;
  switch (format) {
    case 'byte':
      return plain(bytesType, 2, maxLength === undefined ? unboundedText : Math.max(0, maxLength));
    case 'duration':
      return plain(durationType, 3, 32);
    case 'date':
      return plain(timestampType, 12, 12);
    case 'date-time':
      return plain(timestampType, 21, 32);
    default:
  }
  if (maxLength !== undefined) return plain(stringType, 2, Math.max(0, maxLength) * 4);
  const options = schema.enum ?? [];
  if (options.length === 0) return plain(stringType, 2, unboundedText);
  const encoder = new TextEncoder();
  const lengths = options.map((option) => (typeof option === 'string' ? encoder.encode(option).length : 0));
  return plain(
    stringType,
    2,
    lengths.reduce((most, length) => Math.max(most, length), 0),
  );
}

function listDecl(schema: StructuralSchema, name: string): DeclType | undefined {
  if (schema.items === undefined) return undefined;
  const element = declTypeOf(schema.items, `${name}.@idx`, schema.items.embedded === true);
  if (element === undefined) return undefined;
  const maxElements =
    schema.maxItems === undefined
      ? Math.floor((maxRequestSize - 2) / (element.minSerializedSize + 1))
      : Math.max(0, schema.maxItems);
  return { type: listType(element.type), maxElements, minSerializedSize: 2, element };
}

function mapDecl(schema: StructuralSchema, value: StructuralSchema, name: string): DeclType | undefined {
  const element = declTypeOf(value, `${name}.@elem`, value.embedded === true);
  if (element === undefined) return undefined;
  const maxElements =
    schema.maxProperties === undefined
      ? Math.floor((maxRequestSize - 2) / (element.minSerializedSize + 6))
      : Math.max(0, schema.maxProperties);
  return { type: mapType(stringType, element.type), maxElements, minSerializedSize: 2, element, key: keyType };
}

function objectDecl(schema: StructuralSchema, name: string): DeclType {
  const fields = new Map<string, DeclType>();
  const required = new Set(schema.required);
  let minSerializedSize = 2;
  for (const [property, child] of schema.properties ?? []) {
    const escaped = escapeField(property);
    const decl = declTypeOf(child, `${name}.${escaped ?? property}`, child.embedded === true);
    if (decl === undefined) continue;
    if (escaped !== undefined) fields.set(escaped, decl);
    if (required.has(property) && child.hasDefault !== true) {
      minSerializedSize += new TextEncoder().encode(property).length + decl.minSerializedSize + 4;
    }
  }
  return { type: structType(name), maxElements: 0, minSerializedSize, fields };
}

/**
 * Returns the CEL declaration of a schema; undefined if its values are not exposed (no type, preserved unknown data).
 *
 * @param name the name of the type if the schema is an object; the names of nested ones follow from it.
 * @param isResource whether `kind`, `apiVersion` and `metadata` belong to it, as in a root or an embedded resource.
 */
export function declTypeOf(schema: StructuralSchema, name: string, isResource: boolean): DeclType | undefined {
  if (schema.dynamic === true) return plain(dynType, 1, unboundedText);
  if (schema.intOrString === true) {
    return plain(dynType, 1, schema.maxLength === undefined ? unboundedText : Math.max(0, schema.maxLength) * 4);
  }
  const full = isResource ? withTypeAndObjectMeta(schema) : schema;
  switch (full.type) {
    case 'array':
      return listDecl(full, name);
    case 'object':
      return full.additional === undefined ? objectDecl(full, name) : mapDecl(full, full.additional, name);
    case 'string':
      return textDecl(full);
    case 'boolean':
      return plain(boolType, 4);
    case 'number':
      return plain(doubleType, 1);
    case 'integer':
      return plain(intType, 1);
    default:
      return undefined;
  }
}

/** The object types in a declaration, by name. */
export function structsOf(decl: DeclType): Map<string, ReadonlyMap<string, DeclType>> {
  const structs = new Map<string, ReadonlyMap<string, DeclType>>();
  const visit = (each: DeclType): void => {
    if (each.fields !== undefined) {
      structs.set(each.type.name, each.fields);
      for (const field of each.fields.values()) visit(field);
    }
    if (each.element !== undefined) visit(each.element);
  };
  visit(decl);
  return structs;
}
