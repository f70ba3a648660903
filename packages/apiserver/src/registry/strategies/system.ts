import type { UntypedObject } from '@kctl/apimachinery';
import {
  at,
  dns1123Label,
  equalSemantic,
  forbidden,
  invalidValue,
  isObject,
  notSupported,
  numberOf,
  objectOf,
  objectsOf,
  required,
  stringOf,
  stringsOf,
  type FieldError,
} from '@kctl/crd/internal/engine';
import type { KindStrategy } from '../kind-strategy.js';
import { validateLabelSelector } from '../../resource/label-selector.js';
import { nonNegative } from './pod-spec.js';
import { customResourceDefinitionStrategy } from './crds.js';

function validateLease(object: UntypedObject): FieldError[] {
  const spec = objectOf(object['spec']);
  const errors: FieldError[] = [];
  const duration = numberOf(spec['leaseDurationSeconds']);
  if (duration !== undefined && duration <= 0) {
    errors.push(invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
  }
  const transitions = numberOf(spec['leaseTransitions']);
  if (transitions !== undefined && transitions < 0) {
    errors.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  }
  return errors;
}

function validateBudget(object: UntypedObject): FieldError[] {
  const spec = objectOf(object['spec']);
  const errors: FieldError[] = [];
  if (spec['minAvailable'] !== undefined && spec['maxUnavailable'] !== undefined) {
    // The internal form of the spec, as upstream prints it.
    const internal = {
      MinAvailable: spec['minAvailable'],
      Selector: spec['selector'] ?? null,
      MaxUnavailable: spec['maxUnavailable'],
      UnhealthyPodEvictionPolicy: spec['unhealthyPodEvictionPolicy'] ?? null,
    };
    errors.push(invalidValue('spec', internal, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const name of ['minAvailable', 'maxUnavailable']) {
    const value = spec[name];
    if (typeof value === 'string' && !/^\d+%$/.test(value)) {
      const text =
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
      errors.push(invalidValue(`spec.${name}`, value, text));
    } else errors.push(...nonNegative(value, `spec.${name}`));
  }
  return [...errors, ...validateLabelSelector(spec['selector'], 'spec.selector')];
}

function validateAutoscaler(object: UntypedObject): FieldError[] {
  const spec = objectOf(object['spec']);
  const errors: FieldError[] = [];
  const min = numberOf(spec['minReplicas']);
  const max = numberOf(spec['maxReplicas']) ?? 0;
  if (min !== undefined && min < 1) {
    errors.push(invalidValue('spec.minReplicas', min, 'must be greater than or equal to 1'));
  }
  if (max < 1) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  if (min !== undefined && max < min) {
    errors.push(invalidValue('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'));
  }
  const target = objectOf(spec['scaleTargetRef']);
  for (const name of ['kind', 'name']) {
    if (stringOf(target[name]) === '') errors.push(required(`spec.scaleTargetRef.${name}`));
  }
  const version = stringOf(target['apiVersion']);
  if (version === '') {
    errors.push(invalidValue('spec.scaleTargetRef.apiVersion', version, 'apiVersion must specify API group'));
  }
  return errors;
}

/** autoscaling/v1 has one metric as a separate field; in storage (v2) it is one of the list. */
function autoscalerToV2(object: UntypedObject): UntypedObject {
  const { targetCPUUtilizationPercentage: cpu, ...spec } = objectOf(object['spec']);
  const target = { type: 'Utilization', averageUtilization: numberOf(cpu) ?? 80 };
  const { currentCPUUtilizationPercentage: current, ...status } = objectOf(object['status']);
  const currentMetrics =
    current === undefined
      ? []
      : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }];
  return {
    ...object,
    apiVersion: 'autoscaling/v2',
    spec: { ...spec, metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }] },
    status: { currentMetrics, desiredReplicas: 0, ...status },
  };
}

function cpuOf(metrics: unknown): unknown {
  return objectsOf(metrics).find((metric) => at(metric, 'resource', 'name') === 'cpu');
}

function autoscalerFromV2(stored: UntypedObject): UntypedObject {
  const { metrics, behavior: _behavior, ...spec } = objectOf(stored['spec']);
  const { currentMetrics, conditions: _conditions, ...status } = objectOf(stored['status']);
  const cpu = numberOf(at(cpuOf(metrics), 'resource', 'target', 'averageUtilization'));
  const current = numberOf(at(cpuOf(currentMetrics), 'resource', 'current', 'averageUtilization'));
  return {
    ...stored,
    apiVersion: 'autoscaling/v1',
    spec: { ...spec, ...(cpu === undefined ? {} : { targetCPUUtilizationPercentage: cpu }) },
    status: {
      currentReplicas: 0,
      desiredReplicas: 0,
      ...status,
      ...(current === undefined ? {} : { currentCPUUtilizationPercentage: current }),
    },
  };
}

function validateBackend(backend: unknown, field: string): FieldError[] {
  if (!isObject(backend)) return [];
  const { service, resource } = backend;
  if (isObject(resource)) {
    return isObject(service) ? [invalidValue(field, '', 'cannot set both resource and service backends')] : [];
  }
  if (!isObject(service)) return [invalidValue(field, '', 'resource or service backend is required')];
  const name = stringOf(service['name']);
  if (name === '') return [required(`${field}.service.name`)];
  const errors = dns1123Label(name).map((message) => invalidValue(`${field}.service.name`, name, message));
  if (at(service, 'port', 'name') === undefined && at(service, 'port', 'number') === undefined) {
    errors.push(required(field, 'port name or number is required'));
  }
  return errors;
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];

function validateIngress(object: UntypedObject): FieldError[] {
  const spec = objectOf(object['spec']);
  const rules = objectsOf(spec['rules']);
  const errors: FieldError[] = [];
  if (rules.length === 0 && spec['defaultBackend'] === undefined) {
    errors.push(invalidValue('spec', spec['rules'] ?? null, 'either `defaultBackend` or `rules` must be specified'));
  }
  errors.push(...validateBackend(spec['defaultBackend'], 'spec.defaultBackend'));
  for (const [index, rule] of rules.entries()) {
    if (!isObject(rule['http'])) continue;
    const field = `spec.rules[${index}].http.paths`;
    const paths = objectsOf(rule['http']['paths']);
    if (paths.length === 0) errors.push(required(field));
    for (const [at, entry] of paths.entries()) {
      const type = stringOf(entry['pathType']);
      const path = stringOf(entry['path']);
      if (type === '') errors.push(required(`${field}[${at}].pathType`, 'pathType must be specified'));
      else if (!pathTypes.includes(type)) errors.push(notSupported(`${field}[${at}].pathType`, type, pathTypes));
      else if (type !== 'ImplementationSpecific' && !path.startsWith('/')) {
        errors.push(invalidValue(`${field}[${at}].path`, path, 'must be an absolute path'));
      }
      // A path without a type is not checked any further.
      if (type !== '') errors.push(...validateBackend(entry['backend'], `${field}[${at}].backend`));
    }
  }
  return errors;
}

function validatePriorityClass(object: UntypedObject): FieldError[] {
  const value = numberOf(object['value']) ?? 0;
  const name = object.metadata.name ?? '';
  const errors: FieldError[] = [];
  if (name.startsWith('system-') && !(name === 'system-node-critical' || name === 'system-cluster-critical')) {
    errors.push(
      forbidden(
        'metadata.name',
        `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`,
      ),
    );
  } else if (!name.startsWith('system-') && value > 1_000_000_000) {
    errors.push(forbidden('value', 'maximum allowed value of a user defined priority is 1000000000'));
  }
  return errors;
}

function validateSigning(object: UntypedObject): FieldError[] {
  const spec = objectOf(object['spec']);
  const errors: FieldError[] = [];
  if (stringOf(spec['request']) === '')
    errors.push(invalidValue('spec.request', '', 'PEM block type must be CERTIFICATE REQUEST'));
  if (stringsOf(spec['usages']).length === 0) errors.push(required('spec.usages'));
  if (stringOf(spec['signerName']) === '') errors.push(required('spec.signerName'));
  return errors;
}

const signing: KindStrategy = {
  prepareForCreate(object, context) {
    if (context.user !== undefined) object['spec'] = { ...objectOf(object['spec']), username: context.user };
  },
  prepareForUpdate(object, old) {
    object['spec'] = old['spec'];
  },
  validate: validateSigning,
  subresources: {
    approval: {
      prepareForUpdate(object, old) {
        object['spec'] = old['spec'];
        const conditions = at(object, 'status', 'conditions');
        object['status'] = { ...objectOf(old['status']), ...(conditions === undefined ? {} : { conditions }) };
      },
      validateUpdate: () => [],
    },
  },
  fields: { 'spec.signerName': (object) => stringOf(at(object, 'spec', 'signerName')) },
};

/** Leases, policy, autoscaling, networking, scheduling, certificates and the rest. */
export const systemStrategies: Readonly<Record<string, KindStrategy>> = {
  'coordination.k8s.io/Lease': {
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    validate: validateLease,
  },
  'policy/PodDisruptionBudget': { generation: 'spec', allowUnconditionalUpdate: false, validate: validateBudget },
  'autoscaling/v2/HorizontalPodAutoscaler': { validate: validateAutoscaler },
  'autoscaling/v1/HorizontalPodAutoscaler': {
    validate: validateAutoscaler,
    storage: {
      key: 'autoscaling/horizontalpodautoscalers',
      apiVersion: 'autoscaling/v2',
      toStorage: autoscalerToV2,
      fromStorage: autoscalerFromV2,
    },
  },
  'networking.k8s.io/Ingress': { generation: 'spec', validate: validateIngress },
  'networking.k8s.io/IngressClass': { generation: 'spec' },
  'networking.k8s.io/NetworkPolicy': {
    generation: 'spec',
    validate: (object) => validateLabelSelector(at(object, 'spec', 'podSelector'), 'spec.podSelector'),
  },
  'scheduling.k8s.io/PriorityClass': {
    generation: 'once',
    validate: validatePriorityClass,
    validateChange: (object, old) =>
      ['value', 'preemptionPolicy']
        .filter((name) => !equalSemantic(object[name], old[name]))
        .map((name) => forbidden(name, 'may not be changed in an update.')),
  },
  'node.k8s.io/RuntimeClass': { allowCreateOnUpdate: true, allowUnconditionalUpdate: false },
  'certificates.k8s.io/CertificateSigningRequest': signing,
  'flowcontrol.apiserver.k8s.io/FlowSchema': { generation: 'spec' },
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': { generation: 'spec' },
  'resource.k8s.io/ResourceSlice': { generation: 'spec' },
  'resource.k8s.io/DeviceClass': { generation: 'spec' },
  'apiextensions.k8s.io/CustomResourceDefinition': customResourceDefinitionStrategy,
};
