/**
 * What every Indexer promises, as a suite to run against an implementation.
 *
 * @packageDocumentation
 */
export { describeIndexer } from './indexer-suite.js';
export type { IndexerSuiteOptions } from './indexer-suite.js';
