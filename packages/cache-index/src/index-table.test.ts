import { describe, expect, it } from 'vitest';
import { createIndexer } from './index.js';

describe('an index definition', () => {
  it.each([undefined, null, {}, 'spec.nodeName', { path: 7 }, { header: 'x' }, { object: undefined }])(
    'is refused by the name of its index where it says nothing: %j',
    (definition) => {
      const message = 'index byNode is not valid: expected a function, { path }, { header } or { object }';
      expect(() => createIndexer({ indexers: { byNode: definition as never } })).toThrow(new TypeError(message));
      const indexer = createIndexer();
      expect(() => indexer.addIndexers({ byNode: definition as never })).toThrow(message);
      expect(indexer.indexNames).toEqual([]);
    },
  );
});
