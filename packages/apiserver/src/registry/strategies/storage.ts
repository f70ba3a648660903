import type { UntypedObject } from '@kctl/apimachinery';
import {
  at,
  equalSemantic,
  forbidden,
  invalidValue,
  notSupported,
  objectOf,
  quantityNanos,
  required,
  stringOf,
  stringsOf,
  type FieldError,
} from '@kctl/crd/internal/engine';
import type { KindStrategy } from '../kind-strategy.js';

const modes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

function validateModes(spec: Record<string, unknown>, detail?: string): FieldError[] {
  const given = stringsOf(spec['accessModes']);
  if (given.length === 0) return [required('spec.accessModes', detail)];
  return given.filter((mode) => !modes.includes(mode)).map((mode) => notSupported('spec.accessModes', mode, modes));
}

function validateClaim(object: UntypedObject): FieldError[] {
  const spec = objectOf(object['spec']);
  const errors = validateModes(spec, 'at least 1 access mode is required');
  const size = stringOf(at(spec, 'resources', 'requests', 'storage'));
  if (size === '') errors.push(required('spec.resources[storage]'));
  else if (quantityNanos(size) <= 0n) {
    errors.push(invalidValue('spec.resources[storage]', size, 'must be greater than zero'));
  }
  return errors;
}

/** A claim may grow while it is bound, and be bound; nothing else of it changes. */
function validateClaimChange(object: UntypedObject, old: UntypedObject): FieldError[] {
  const spec = { ...objectOf(object['spec']) };
  const before = objectOf(old['spec']);
  const size = stringOf(at(spec, 'resources', 'requests', 'storage'));
  const was = stringOf(at(before, 'resources', 'requests', 'storage'));
  const errors: FieldError[] = [];
  if (stringOf(before['volumeName']) === '') spec['volumeName'] = before['volumeName'];
  if (before['storageClassName'] === undefined) delete spec['storageClassName'];
  const isBound = at(old, 'status', 'phase') === 'Bound';
  if (isBound && size !== '' && was !== '') {
    if (quantityNanos(size) < quantityNanos(was)) {
      errors.push(forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'));
    }
    spec['resources'] = before['resources'];
  }
  spec['volumeAttributesClassName'] = before['volumeAttributesClassName'];
  if (!equalSemantic(spec, before)) {
    errors.push(
      forbidden(
        'spec',
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      ),
    );
  }
  return errors;
}

const sourceless: ReadonlySet<string> = new Set([
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
]);

function sourceOf(spec: Record<string, unknown>): [string, unknown][] {
  return Object.entries(spec).filter(([name]) => !sourceless.has(name));
}

function validateVolume(object: UntypedObject): FieldError[] {
  const spec = objectOf(object['spec']);
  const errors = validateModes(spec);
  const capacity = objectOf(spec['capacity']);
  if (Object.keys(capacity).length === 0) errors.push(required('spec.capacity'));
  if (stringOf(capacity['storage']) === '' || Object.keys(capacity).length > 1) {
    errors.push(notSupported('spec.capacity', spec['capacity'] ?? null, ['storage']));
  }
  const sources = sourceOf(spec);
  if (sources.length === 0) errors.push(required('spec', 'must specify a volume type'));
  for (const [name] of sources.slice(1)) {
    errors.push(forbidden(`spec.${name}`, 'may not specify more than 1 volume type'));
  }
  return errors;
}

function validateVolumeChange(object: UntypedObject, old: UntypedObject): FieldError[] {
  const after = sourceOf(objectOf(object['spec']));
  if (equalSemantic(Object.fromEntries(after), Object.fromEntries(sourceOf(objectOf(old['spec']))))) return [];
  return [forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation')];
}

function frozen(names: readonly string[]): NonNullable<KindStrategy['validateChange']> {
  return (object, old) =>
    names
      .filter((name) => !equalSemantic(object[name], old[name]))
      .map((name) => invalidValue(name, object[name] ?? null, 'field is immutable'));
}

const storageClass: KindStrategy = {
  validate(object) {
    const errors = stringOf(object['provisioner']) === '' ? [required('provisioner')] : [];
    const policy = stringOf(object['reclaimPolicy']);
    if (policy !== 'Delete' && policy !== 'Retain') {
      errors.push(notSupported('reclaimPolicy', policy, ['Delete', 'Retain']));
    }
    const binding = stringOf(object['volumeBindingMode']);
    if (binding !== 'Immediate' && binding !== 'WaitForFirstConsumer') {
      errors.push(notSupported('volumeBindingMode', binding, ['Immediate', 'WaitForFirstConsumer']));
    }
    return errors;
  },
  validateChange: frozen(['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']),
};

/** Works like the plugin StorageObjectInUseProtection, so that an object in use is not deleted before its use ends. */
function protect(finalizer: string): NonNullable<KindStrategy['admit']> {
  return (object, old) => {
    const { finalizers = [] } = object.metadata;
    if (old === undefined && !finalizers.includes(finalizer)) object.metadata.finalizers = [...finalizers, finalizer];
  };
}

/** Volumes, claims and their classes. */
export const storageStrategies: Readonly<Record<string, KindStrategy>> = {
  '/PersistentVolumeClaim': {
    admit: protect('kubernetes.io/pvc-protection'),
    prepareForCreate(object) {
      object['status'] = { phase: 'Pending' };
    },
    validate: validateClaim,
    validateChange: validateClaimChange,
  },
  '/PersistentVolume': {
    admit: protect('kubernetes.io/pv-protection'),
    prepareForCreate(object, context) {
      object['status'] = { phase: 'Pending', lastPhaseTransitionTime: context.now };
    },
    validate: validateVolume,
    validateChange: validateVolumeChange,
  },
  'storage.k8s.io/StorageClass': storageClass,
  'storage.k8s.io/CSIDriver': { allowUnconditionalUpdate: false },
  'storage.k8s.io/CSINode': { allowUnconditionalUpdate: false },
  'storage.k8s.io/CSIStorageCapacity': { allowUnconditionalUpdate: false },
  'storage.k8s.io/VolumeAttachment': { allowUnconditionalUpdate: false },
};
