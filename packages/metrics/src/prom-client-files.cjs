'use strict';
// The parts of prom-client that this package uses, by file. CommonJS: Node scans each CommonJS file that an ES module
// imports for its exports, in JavaScript, for 2 to 3 ms; files that a CommonJS file requires it does not scan.
exports.Counter = require('prom-client/lib/counter.js');
exports.Gauge = require('prom-client/lib/gauge.js');
exports.Histogram = require('prom-client/lib/histogram.js');
exports.Registry = require('prom-client/lib/registry.js');
exports.defaultMetrics = {
  eventLoopLag: require('prom-client/lib/metrics/eventLoopLag.js'),
  gc: require('prom-client/lib/metrics/gc.js'),
  heapSizeAndUsed: require('prom-client/lib/metrics/heapSizeAndUsed.js'),
  heapSpacesSizeAndUsed: require('prom-client/lib/metrics/heapSpacesSizeAndUsed.js'),
  osMemoryHeap: require('prom-client/lib/metrics/osMemoryHeap.js'),
  processHandles: require('prom-client/lib/metrics/processHandles.js'),
  processMaxFileDescriptors: require('prom-client/lib/metrics/processMaxFileDescriptors.js'),
  processOpenFileDescriptors: require('prom-client/lib/metrics/processOpenFileDescriptors.js'),
  processRequests: require('prom-client/lib/metrics/processRequests.js'),
  processResources: require('prom-client/lib/metrics/processResources.js'),
  processStartTime: require('prom-client/lib/metrics/processStartTime.js'),
  version: require('prom-client/lib/metrics/version.js'),
};
