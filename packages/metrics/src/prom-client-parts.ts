// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- it declares modules, which an import would turn into augmentations
/// <reference path="./prom-client-files.d.ts" />
/**
 * The parts of prom-client that this package uses, by file: its index also loads the push gateway, the cluster registry,
 * summaries with their digests and the whole OpenTelemetry API, which together cost each process 60 files and 8 MB. The
 * classes are those of the index, so that registries and metrics of user code are recognized.
 */
import '@kctl/telemetry/require-in-bundles'; // before a CommonJS package
import type * as index from 'prom-client';
import counter from 'prom-client/lib/counter.js';
import gauge from 'prom-client/lib/gauge.js';
import histogram from 'prom-client/lib/histogram.js';
import registry from 'prom-client/lib/registry.js';

export const Counter: typeof index.Counter = counter;
export const Gauge: typeof index.Gauge = gauge;
export const Histogram: typeof index.Histogram = histogram;
export const Registry: typeof index.Registry = registry;
