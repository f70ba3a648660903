import type { UntypedObject } from '@kctl/apimachinery';
import {
  arrayOf,
  at,
  configMapKey,
  ensureObject,
  equalSemantic,
  forbidden,
  invalidValue,
  isObject,
  labelKey,
  labelName,
  notSupported,
  objectOf,
  objectsOf,
  required,
  setOwn,
  stringOf,
  stringsOf,
  tooLong,
  type FieldError,
} from '@kctl/crd/internal/engine';
import type { KindStrategy } from '../kind-strategy.js';

const maxData = 1024 * 1024;

function validateKeys(data: unknown, field: string): FieldError[] {
  return Object.keys(objectOf(data)).flatMap((key) =>
    configMapKey(key).map((message) => invalidValue(`${field}[${key}]`, key, message)),
  );
}

function sizeOf(map: unknown, encoding: 'utf8' | 'base64'): number {
  return Object.values(objectOf(map)).reduce<number>(
    (sum, value) => sum + Buffer.byteLength(stringOf(value), encoding),
    0,
  );
}

function validateConfigMap(object: UntypedObject): FieldError[] {
  const { data, binaryData } = object;
  const errors: FieldError[] = [];
  const binary = objectOf(binaryData);
  for (const key of Object.keys(objectOf(data))) {
    for (const message of configMapKey(key)) errors.push(invalidValue(`data[${key}]`, key, message));
    if (Object.hasOwn(binary, key)) {
      errors.push(invalidValue(`data[${key}]`, key, `duplicate of key present in binaryData`));
    }
  }
  errors.push(...validateKeys(binaryData, 'binaryData'));
  if (sizeOf(data, 'utf8') + sizeOf(binaryData, 'base64') > maxData) errors.push(tooLong('<nil>', maxData));
  return errors;
}

/** `immutable: true` stays, and with it the data. */
function validateImmutable(fields: readonly string[]): NonNullable<KindStrategy['validateChange']> {
  return (object, old) => {
    if (old['immutable'] !== true) return [];
    const text = 'field is immutable when `immutable` is set';
    const errors = object['immutable'] === true ? [] : [forbidden('immutable', text)];
    for (const field of fields) if (!equalSemantic(object[field], old[field])) errors.push(forbidden(field, text));
    return errors;
  };
}

/** Keys that a Secret of a type must have. */
const secretKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

function validateSecret(object: UntypedObject): FieldError[] {
  const data = objectOf(object['data']);
  const errors = validateKeys(data, 'data');
  if (sizeOf(data, 'base64') > maxData) errors.push(tooLong('data', maxData));
  const type = stringOf(object['type']);
  for (const key of secretKeys[type] ?? []) {
    if (!Object.hasOwn(data, key)) errors.push(required(`data[${key}]`));
  }
  if (type === 'kubernetes.io/service-account-token') {
    const annotation = 'kubernetes.io/service-account.name';
    const account = object.metadata.annotations?.[annotation] ?? '';
    if (account === '') errors.push(required(`metadata.annotations[${annotation}]`));
  }
  if (type === 'kubernetes.io/basic-auth' && !('username' in data) && !('password' in data)) {
    errors.push(required('data[username]'), required('data[password]'));
  }
  return errors;
}

function foldStringData(object: UntypedObject): void {
  const { stringData } = object;
  if (!isObject(stringData)) return;
  const data = { ...objectOf(object['data']) };
  for (const [key, value] of Object.entries(stringData)) {
    setOwn(data, key, Buffer.from(stringOf(value)).toString('base64'));
  }
  if (Object.keys(data).length > 0) object['data'] = data;
  delete object['stringData'];
}

/**
 * Null bytes come back empty, because upstream's storage does not distinguish the two. The next write stores them so,
 * which makes a revision.
 */
function readBytes(stored: UntypedObject, field: 'data' | 'binaryData'): UntypedObject {
  const entries = Object.entries(objectOf(stored[field]));
  if (!entries.some(([, value]) => value === null)) return stored;
  return { ...stored, [field]: Object.fromEntries(entries.map(([key, value]) => [key, value ?? ''])) };
}

const secret: KindStrategy = {
  read: (stored) => readBytes(stored, 'data'),
  revalidatesMetadata: true,
  default: foldStringData,
  validate: validateSecret,
  validateChange: (object, old, context) => {
    const errors = validateImmutable(['data'])(object, old, context);
    if (object['type'] !== old['type']) errors.unshift(invalidValue('type', object['type'], 'field is immutable'));
    return errors;
  },
  fields: { type: (object) => stringOf(object['type']) },
};

const undeletable: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

const namespace: KindStrategy = {
  nameRule: labelName,
  canonicalize({ metadata }) {
    metadata.labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name ?? '' };
  },
  prepareForCreate(object) {
    object['status'] = { phase: 'Active' };
    const finalizers = stringsOf(at(object, 'spec', 'finalizers'));
    if (!finalizers.includes('kubernetes')) finalizers.push('kubernetes');
    object['spec'] = { finalizers };
  },
  prepareForUpdate(object, old) {
    object['spec'] = old['spec'] ?? {};
  },
  validate: (object) =>
    stringsOf(at(object, 'spec', 'finalizers')).flatMap((name, index) =>
      labelKey(name).map((message) => invalidValue(`spec.finalizers[${index}]`, name, message)),
    ),
  validateChange(object) {
    const name = object.metadata.name ?? '';
    const label = object.metadata.labels?.['kubernetes.io/metadata.name'];
    return label === name
      ? []
      : [invalidValue('metadata.labels[kubernetes.io/metadata.name]', label, `must be ${name}`)];
  },
  subresources: {
    finalize: {
      prepareForUpdate(object, old) {
        object['status'] = old['status'] ?? {};
      },
      validateUpdate: () => [],
    },
  },
  deletionForbidden: ({ metadata: { name = '' } }) =>
    undeletable.has(name) ? 'this namespace may not be deleted' : undefined,
  fields: {
    'status.phase': (object) => stringOf(at(object, 'status', 'phase')),
    name: (object) => object.metadata.name ?? '',
  },
};

const node: KindStrategy = {
  // Kubelets register themselves with their status.
  keepsStatusOnCreate: true,
  /** A new node takes no pods before it is ready, as the TaintNodesByCondition plug-in sees to. */
  prepareForCreate(object) {
    const spec = ensureObject(object, 'spec');
    const taints = objectsOf(spec['taints']);
    const key = 'node.kubernetes.io/not-ready';
    if (!taints.some((taint) => taint['key'] === key)) taints.push({ key, effect: 'NoSchedule' });
    spec['taints'] = taints;
  },
  validateChange(object, old) {
    const before = stringOf(at(old, 'spec', 'providerID'));
    const after = stringOf(at(object, 'spec', 'providerID'));
    if (before === '' || before === after) return [];
    return [forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid')];
  },
  fields: { 'spec.unschedulable': (object) => String(at(object, 'spec', 'unschedulable') === true) },
};

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function validateTaints(object: UntypedObject): FieldError[] {
  return objectsOf(at(object, 'spec', 'taints')).flatMap((taint, index) => {
    const field = `metadata.taints[${index}]`;
    const key = stringOf(taint['key']);
    const effect = stringOf(taint['effect']);
    const errors = labelKey(key).map((message) => invalidValue(`${field}.key`, key, message));
    if (!effects.includes(effect)) errors.push(notSupported(`${field}.effect`, effect, effects));
    return errors;
  });
}

const quota: KindStrategy = {
  validate: (object) =>
    arrayOf(at(object, 'spec', 'scopes')).length > 0 && at(object, 'spec', 'hard') === undefined
      ? [required('spec.hard')]
      : [],
};

/** ConfigMap, Secret, Namespace, Node and the like. */
export const coreStrategies: Readonly<Record<string, KindStrategy>> = {
  '/ConfigMap': {
    revalidatesMetadata: true,
    validate: validateConfigMap,
    read: (stored) => readBytes(stored, 'binaryData'),
    validateChange: validateImmutable(['data', 'binaryData']),
  },
  '/Secret': secret,
  '/Namespace': namespace,
  '/Node': { ...node, validate: validateTaints },
  '/ResourceQuota': quota,
  '/LimitRange': { allowCreateOnUpdate: true },
  '/ServiceAccount': {},
  '/PodTemplate': { generation: 'content' },
};
