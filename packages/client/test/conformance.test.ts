import { clientConformance } from '../src/conformance/index.js';
import { inNamespace, intercept, record, withFieldOwner, withFieldValidation } from '../src/index.js';
import { createMemoryClient } from './memory-client.js';

const skip = {
  actions: 'the server in memory has no subresources that act',
  apply: 'the server in memory has no server-side apply',
  customResources: 'the server in memory has no definitions',
  fieldValidation: 'the server in memory has no schemas',
  managedFields: 'the server in memory tracks no fields',
  scale: 'the server in memory has no scale',
  strategic: 'the server in memory has no schemas',
  token: 'the server in memory issues no tokens',
};

clientConformance('a client in memory', { create: async () => createMemoryClient(), skip });

clientConformance('wrappers around it, one in the other', {
  create: async () =>
    intercept(record(withFieldValidation(withFieldOwner(createMemoryClient(), 'me'), 'Warn')), () => ({})),
  skip,
});

clientConformance('a client of one namespace', {
  create: async () => inNamespace(createMemoryClient(), 'default'),
  skip: { ...skip, allNamespaces: 'it reads one namespace' },
});
