import type { UntypedObject } from '@kctl/apimachinery';
import { ensureObject, isObject, objectOf, stringOf, stringsOf, type JsonObject } from '../registry/json.js';
import type { KindStrategy } from '../registry/kind-strategy.js';
import type { WriteContext } from '../registry/resource.js';
import { crdVersions } from './crd-names.js';
import { validateCrd, validateCrdChange } from './crd-validation.js';

/** Remembers the storage version among those that objects may be stored in. */
function rememberStorageVersion(object: UntypedObject): void {
  const storage = crdVersions(object).find((version) => version['storage'] === true);
  if (storage === undefined) return;
  const status = ensureObject(object, 'status');
  const stored = stringsOf(status['storedVersions']);
  const name = stringOf(storage['name']);
  if (!stored.includes(name)) object['status'] = { ...status, storedVersions: [...stored, name] };
}

function hasRules(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasRules);
  if (!isObject(schema)) return false;
  const rules = schema['x-kubernetes-validations'];
  if (Array.isArray(rules) && rules.length > 0) return true;
  return Object.values(schema).some(hasRules);
}

/** CEL is not evaluated yet: a CRD with rules gets a warning. */
function warnOfRules(object: UntypedObject, context: WriteContext): void {
  for (const version of crdVersions(object)) {
    const source: JsonObject = objectOf(version['schema']);
    if (!hasRules(source['openAPIV3Schema'])) continue;
    context.warn(
      `spec.versions[name=${JSON.stringify(version['name'])}]: x-kubernetes-validations are stored but not evaluated by this server: objects that break these rules are accepted`,
    );
  }
}

/** CustomResourceDefinitions. Naming, establishing and clean-up are the controller's. */
export const customResourceDefinitionStrategy: KindStrategy = {
  generation: 'spec',
  prepareForCreate(object) {
    object['status'] = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null };
    rememberStorageVersion(object);
  },
  prepareForUpdate: rememberStorageVersion,
  validate(object, context) {
    warnOfRules(object, context);
    return validateCrd(object);
  },
  validateChange: validateCrdChange,
};
