import type { UntypedObject } from '@kctl/apimachinery';
import {
  crdVersions,
  ensureObject,
  stringOf,
  stringsOf,
  validateCrd,
  validateCrdChange,
} from '@kctl/crd/internal/engine';
import type { KindStrategy } from '../kind-strategy.js';

/** Remembers the storage version among those that objects may be stored in. */
function rememberStorageVersion(object: UntypedObject): void {
  const storage = crdVersions(object).find((version) => version['storage'] === true);
  if (storage === undefined) return;
  const status = ensureObject(object, 'status');
  const stored = stringsOf(status['storedVersions']);
  const name = stringOf(storage['name']);
  if (!stored.includes(name)) object['status'] = { ...status, storedVersions: [...stored, name] };
}

/** CustomResourceDefinitions. Naming, establishing and clean-up are the controller's. */
export const customResourceDefinitionStrategy: KindStrategy = {
  generation: 'spec',
  prepareForCreate(object) {
    object['status'] = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null };
    rememberStorageVersion(object);
  },
  prepareForUpdate: rememberStorageVersion,
  validate: (object) => validateCrd(object),
  validateChange: validateCrdChange,
};
