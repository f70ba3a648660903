import { ListValue, MapValue, StructValue, valueJson, Failure, type Value } from '@kctl/cel/internal';
import { isObject, setOwn, type JsonObject } from '@kctl/crd/internal/engine';

/** Thrown if the result of an expression is not a configuration or a patch. */
export class PatchProblem extends Error {}

/** `Object.spec.template{…}` must stand at the path that its name states. */
function checkTypeNames(value: Value, path: string): void {
  if (value instanceof ListValue) {
    for (const item of value) if (!(item instanceof Failure)) checkTypeNames(item, path);
  } else if (value instanceof MapValue) {
    for (const key of value.keys()) {
      const item = value.get(key);
      if (item !== undefined && !(item instanceof Failure)) checkTypeNames(item, path);
    }
  } else if (value instanceof StructValue) {
    const { name } = value.type;
    if (name !== path) {
      throw new PatchProblem(
        `type mismatch: unexpected type name ${JSON.stringify(name)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`,
      );
    }
    for (const [field, item] of value.fields) checkTypeNames(item, `${path}.${field}`);
  }
}

/** The apply configuration that an expression gave. @throws PatchProblem */
export function configurationOf(value: Value): JsonObject {
  if (!(value instanceof StructValue)) throw new PatchProblem('type mismatch: expected Object');
  checkTypeNames(value, 'Object');
  const json = valueJson(value);
  return isObject(json) ? json : {};
}

/** The operations that an expression gave. @throws PatchProblem */
export function operationsOf(value: Value): JsonObject[] {
  if (!(value instanceof ListValue)) {
    throw new PatchProblem('type mismatch: JSONPatchType.expression should evaluate to array');
  }
  return Array.from(value, (item) => {
    if (!(item instanceof StructValue) || item.type.name !== 'JSONPatch') {
      throw new PatchProblem('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch');
    }
    const operation: JsonObject = {};
    for (const [name, field] of item.fields) {
      if (field instanceof StructValue) checkTypeNames(field, field.type.name);
      setOwn(operation, name, valueJson(field));
    }
    return operation;
  });
}
