import { required, type FieldError } from '../values/field-error.js';
import { isObject, objectsOf, type JsonObject } from '../values/json.js';

const junctors = ['allOf', 'anyOf', 'oneOf'] as const;

/**
 * Checks fields and items that the junctors of the root mention but the root itself does not, because they must not be
 * pruned before they are validated. Mirrors `validateStructuralCompleteness`, which checks only the root's junctors.
 */
export function checkCompleteness(root: JsonObject, field: string): FieldError[] {
  return checkJunctors(root, root, { field, says: field });
}

/** A place in the schema, and the one below junctors that speaks of it. */
interface Place {
  readonly field: string;
  readonly says: string;
}

function checkJunctors(part: JsonObject, schema: JsonObject, { field, says }: Place): FieldError[] {
  const inside = junctors.flatMap((junctor) =>
    objectsOf(part[junctor]).flatMap((each, index) =>
      checkPart(each, schema, { field, says: `${says}.${junctor}[${index}]` }),
    ),
  );
  return [...checkPart(part['not'], schema, { field, says: `${says}.not` }), ...inside];
}

function checkPart(part: unknown, schema: unknown, place: Place): FieldError[] {
  if (!isObject(part)) return [];
  const { field, says } = place;
  if (!isObject(schema)) return [required(field, `because it is defined in ${says}`)];
  const known = isObject(schema['properties']) ? schema['properties'] : {};
  const properties = Object.entries(isObject(part['properties']) ? part['properties'] : {});
  return [
    ...checkJunctors(part, schema, place),
    ...checkPart(part['items'], schema['items'], { field: `${field}.items`, says: `${says}.items` }),
    ...properties.flatMap(([name, property]) => {
      const below = `.properties[${name}]`;
      const own = Object.hasOwn(known, name) ? known[name] : undefined;
      return checkPart(property, own, { field: `${field}${below}`, says: `${says}${below}` });
    }),
  ];
}
