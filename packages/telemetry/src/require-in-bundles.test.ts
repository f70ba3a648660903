import { expect, it } from 'vitest';
import { isBundled } from './require-in-bundles.js';

it('defines nothing where the module runs from its own file', () => {
  expect(isBundled(import.meta.resolve('./require-in-bundles.js'))).toBe(false);
  expect(isBundled('file:///app/node_modules/@kctl/telemetry/dist/require-in-bundles.js')).toBe(false);
  expect(isBundled('file:///app/node_modules/@kctl/telemetry/dist/require-in-bundles.js?v=1')).toBe(false);
  expect(isBundled(undefined)).toBe(false);
  expect(isBundled('file:///app/operator.mjs')).toBe(true);
  expect('require' in globalThis).toBe(false);
});
