import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { expect, it } from 'vitest';
import { requireCallOptions } from '../src/internal/index.js';

const { signal } = new AbortController();

it.each([
  ['get', {}],
  ['get', { live: true, readYourWrites: 'overlay', signal, resourceVersion: '5' }],
  ['get', { readYourWrites: 'barrier', live: undefined }],
  ['list', { readYourWrites: 'off', limit: 5, transient: false, namespace: 'a', labelSelector: 'a=b' }],
  ['list', { limit: Infinity, continue: 'x' }],
  ['watch', { allowWatchBookmarks: true, sendInitialEvents: false, timeoutSeconds: 5, transient: true }],
  ['update', { dryRun: false, fieldOwner: 'me', force: true, fieldValidation: 'Strict' }],
  ['delete', { preconditions: { uid: 'u', resourceVersion: '1' }, gracePeriodSeconds: 0, dryRun: true }],
  ['delete', { preconditions: { uid: undefined } }],
  ['deleteAllOf', { namespace: 'a', propagationPolicy: 'Orphan', fieldSelector: {} }],
  ['get', { dryRun: true, fieldOwner: 'me', force: false }],
])('%s takes %j', (verb, options) => {
  expect(() => requireCallOptions(verb, ConfigMap, options)).not.toThrow();
});

it.each([
  ['get', undefined, 'get ConfigMap: the options are undefined: expected an object of options'],
  ['get', null, 'get ConfigMap: the options are null'],
  ['get', [], 'get ConfigMap: the options are'],
  ['get', 'live', 'get ConfigMap: the options are "live"'],
  ['get', { live: 'yes' }, 'get ConfigMap: options.live is "yes": expected true or false'],
  ['get', { readYourWrites: true }, 'options.readYourWrites is true: expected "overlay", "barrier" or "off"'],
  ['get', { namespace: 'a' }, 'get ConfigMap: unknown option "namespace"'],
  ['list', { limit: '5' }, 'list ConfigMap: options.limit is "5": expected a whole number'],
  ['list', { limit: 1.5 }, 'options.limit is 1.5: expected a whole number'],
  ['list', { limit: -Infinity }, 'options.limit is -Infinity: expected a whole number'],
  ['list', { namespace: 5 }, 'options.namespace is 5: expected a string'],
  ['list', { transient: 1 }, 'options.transient is 1: expected true or false'],
  ['list', { labelSelectors: 'a' }, 'list ConfigMap: unknown option "labelSelectors": did you mean "labelSelector"?'],
  ['watch', { allowWatchBookmarks: 1 }, 'options.allowWatchBookmarks is 1: expected true or false'],
  ['update', { dryRun: 'All' }, 'update ConfigMap: options.dryRun is "All": expected true or false'],
  ['create', { fieldOwner: 5, force: 'x' }, 'options.fieldOwner is 5: expected a string; options.force is "x"'],
  ['patch', { live: true }, 'patch ConfigMap: unknown option "live"'],
  ['delete', { preconditions: 'u' }, 'options.preconditions is "u": expected { uid, resourceVersion }'],
  ['delete', { preconditions: [] }, 'expected { uid, resourceVersion }'],
  ['delete', { preconditions: { uid: 5 } }, 'options.preconditions.uid is 5: expected a string'],
  ['delete', { preconditions: { UID: 'u' } }, 'preconditions.UID'],
  ['deleteAllOf', { labelSelecter: 'a' }, 'did you mean "labelSelector"?'],
  ['delete', { namespace: 'a' }, 'delete ConfigMap: unknown option "namespace"'],
])('%s refuses %j', (verb, options, message) => {
  expect(() => requireCallOptions(verb, ConfigMap, options)).toThrow(TypeError);
  expect(() => requireCallOptions(verb, ConfigMap, options)).toThrow(message);
});

it('takes a function with members for options, as any object', () => {
  expect(() =>
    requireCallOptions(
      'get',
      ConfigMap,
      Object.assign(() => undefined, { live: true }),
    ),
  ).not.toThrow();
  expect(() =>
    requireCallOptions(
      'get',
      ConfigMap,
      Object.assign(() => undefined, { live: 1 }),
    ),
  ).toThrow('options.live');
});
