import { clientConformance } from '../src/conformance/index.js';
import { inNamespace, intercept, record, withFieldOwner, withFieldValidation } from '../src/index.js';
import { createMemoryClient } from './memory-client.js';

const skip = {
  apply: 'the server in memory has no server-side apply',
  fieldValidation: 'the server in memory has no schemas',
  managedFields: 'the server in memory tracks no fields',
  scale: 'the server in memory has no scale',
  strategic: 'the server in memory has no schemas',
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
