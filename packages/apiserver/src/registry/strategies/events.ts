import type { UntypedObject } from '@kctl/apimachinery';
import {
  at,
  invalidValue,
  isObject,
  numberOf,
  required,
  stringOf,
  tooLong,
  type FieldError,
} from '@kctl/crd/internal/engine';
import type { KindStrategy } from '../kind-strategy.js';

/** Fields that have one name in core/v1 and another in events.k8s.io/v1. */
const renamed = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
] as const;

/** Fields that core/v1 writes always, with what they hold when empty. */
const alwaysInCore: Readonly<Record<string, unknown>> = {
  involvedObject: {},
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
};

const toEventsNames = new Map<string, string>(renamed.map(([core, events]) => [core, events]));
const toCoreNames = new Map<string, string>(renamed.map(([core, events]) => [events, core]));

function rename(object: UntypedObject, apiVersion: string, names: ReadonlyMap<string, string>): UntypedObject {
  const result: UntypedObject = { kind: 'Event', apiVersion, metadata: object.metadata };
  for (const [name, value] of Object.entries(object)) {
    if (name !== 'kind' && name !== 'apiVersion' && name !== 'metadata') result[names.get(name) ?? name] = value;
  }
  return result;
}

function toCore(object: UntypedObject): UntypedObject {
  const core = rename(object, 'v1', toCoreNames);
  for (const [name, value] of Object.entries(alwaysInCore)) if (core[name] === undefined) core[name] = value;
  return core;
}

const converted = new WeakMap<UntypedObject, UntypedObject>();

function toEvents(stored: UntypedObject): UntypedObject {
  const known = converted.get(stored);
  if (known !== undefined) return known;
  const result = rename(stored, 'events.k8s.io/v1', toEventsNames);
  for (const name of ['reportingController', 'reportingInstance']) if (result[name] === '') delete result[name];
  converted.set(stored, result);
  return result;
}

function validateNamespace(object: UntypedObject, field: 'involvedObject' | 'regarding'): FieldError[] {
  const namespace = stringOf(at(object, field, 'namespace'));
  const own = object.metadata.namespace ?? '';
  if (namespace === '' ? own === '' || own === 'default' : namespace === own) return [];
  if (namespace === '' && own === 'kube-system') return [];
  return [invalidValue('involvedObject.namespace', namespace, 'does not match event.namespace')];
}

/** Events of events.k8s.io/v1 that are new must be complete; old ones of core/v1 need not be. */
function validateNew(object: UntypedObject): FieldError[] {
  const errors = validateNamespace(object, 'regarding');
  const type = stringOf(object['type']);
  const badType = type === 'Normal' || type === 'Warning' ? [] : [invalidValue('type', type, 'has invalid value: ')];
  if (object['eventTime'] === null || object['eventTime'] === undefined) {
    return [...errors, required('eventTime'), ...badType];
  }
  for (const name of ['reportingController', 'reportingInstance', 'action', 'reason']) {
    const value = stringOf(object[name]);
    if (value === '') errors.push(required(name));
    else if (name !== 'reportingController' && value.length > 128) errors.push(tooLong(name, 128));
  }
  if (stringOf(object['note']).length > 1024) errors.push(tooLong('note', 1024));
  errors.push(...badType);
  for (const name of ['deprecatedFirstTimestamp', 'deprecatedLastTimestamp']) {
    if (object[name] !== null && object[name] !== undefined)
      errors.push(invalidValue(name, object[name], 'needs to be unset'));
  }
  if ((numberOf(object['deprecatedCount']) ?? 0) !== 0) {
    errors.push(invalidValue('deprecatedCount', object['deprecatedCount'], 'needs to be unset'));
  }
  const source = object['deprecatedSource'];
  if (isObject(source) && Object.keys(source).length > 0) {
    errors.push(invalidValue('deprecatedSource', source, 'needs to be unset'));
  }
  return errors;
}

function fields(reference: string, component: string): NonNullable<KindStrategy['fields']> {
  const result: Record<string, (object: UntypedObject) => string> = {};
  for (const name of ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']) {
    result[`${reference}.${name}`] = (object) => stringOf(at(object, reference, name));
  }
  result['reason'] = (object) => stringOf(object['reason']);
  result['type'] = (object) => stringOf(object['type']);
  result[component] = (object) => stringOf(object[component]);
  return result;
}

const shared: KindStrategy = { allowCreateOnUpdate: true };

/** Events in one storage, with two names for half of the fields. Stored as core/v1. */
export const eventStrategies: Readonly<Record<string, KindStrategy>> = {
  '/v1/Event': {
    ...shared,
    validate: (object) => validateNamespace(object, 'involvedObject'),
    fields: {
      ...fields('involvedObject', 'reportingComponent'),
      source: (object) => {
        const component = stringOf(at(object, 'source', 'component'));
        return component === '' ? stringOf(object['reportingComponent']) : component;
      },
    },
  },
  'events.k8s.io/v1/Event': {
    ...shared,
    storage: { key: '/events', apiVersion: 'v1', toStorage: toCore, fromStorage: toEvents },
    validate: (object) =>
      object.metadata.creationTimestamp === undefined || object.metadata.resourceVersion === undefined
        ? validateNew(object)
        : validateNamespace(object, 'regarding'),
    fields: fields('regarding', 'reportingController'),
  },
};
