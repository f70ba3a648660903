import type { Schema } from '@kctl/crd/internal/engine';
import { deduced, untypedAtomic, type Atom, type FieldAtom, type ListAtom, type MapAtom } from './atom.js';

const string: Atom = { scalar: 'string' };
const stringField: FieldAtom = { type: string };

interface Inherited {
  /** Whether a schema above lets unknown fields be. */
  readonly isOpen: boolean;
  readonly metadata: Atom;
}

/** The type of a custom resource. `metadata` is the type of its metadata. */
export function customAtom(schema: Schema, metadata: Atom): Atom {
  const inherited = { isOpen: schema.preserveUnknown === true, metadata };
  return { map: mapAtom({ ...schema, embedded: true }, inherited) };
}

function schemaAtom(schema: Schema, above: Inherited): Atom {
  const inherited = { ...above, isOpen: above.isOpen || schema.preserveUnknown === true };
  switch (schema.type) {
    case 'object':
      return { map: mapAtom(schema, inherited) };
    case 'array':
      return { list: listAtom(schema, inherited) };
    case 'string':
      return schema.format === undefined || schema.format === 'byte' ? string : { scalar: 'untyped' };
    case 'boolean':
      return { scalar: 'boolean' };
    case 'integer':
    case 'number':
      return { scalar: 'numeric' };
    default:
      return { scalar: 'untyped', list: listAtom(schema, inherited), map: mapAtom(schema, inherited) };
  }
}

function mapAtom(schema: Schema, inherited: Inherited): MapAtom {
  const { properties, additional, embedded = false } = schema;
  const known = new Map<string, FieldAtom>();
  if (embedded) {
    known.set('apiVersion', stringField).set('kind', stringField);
    known.set('metadata', { type: inherited.metadata });
  }
  let others: Atom | undefined;
  const hasFields = embedded || (properties?.size ?? 0) > 0;
  if (additional === true) others = deduced;
  else if (additional !== undefined) others = schemaAtom(additional, inherited);
  else if (inherited.isOpen || !hasFields) others = deduced;
  return {
    isAtomic: schema.mapType === 'atomic',
    field(name) {
      let field = known.get(name);
      if (field !== undefined) return field;
      const property = properties?.get(name);
      if (property === undefined) return undefined;
      const type = schemaAtom(property, inherited);
      field = property.default === undefined ? { type } : { type, default: property.default };
      known.set(name, field);
      return field;
    },
    others,
  };
}

function listAtom(schema: Schema, inherited: Inherited): ListAtom {
  const { items: schemaOfItems, listType, listMapKeys = [] } = schema;
  let items: Atom | undefined;
  return {
    isAtomic: listType !== 'set' && listType !== 'map',
    keys: listType === 'map' ? listMapKeys : [],
    get items() {
      items ??= schemaOfItems === undefined ? untypedAtomic : schemaAtom(schemaOfItems, inherited);
      return items;
    },
  };
}
