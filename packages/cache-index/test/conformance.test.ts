import { createIndexer } from '@kctl/cache-index';
import { describeIndexer } from '@kctl/cache-index/conformance';

describeIndexer('createIndexer', { create: (indexers) => createIndexer(indexers === undefined ? {} : { indexers }) });
