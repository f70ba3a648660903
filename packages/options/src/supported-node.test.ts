import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { unsupportedNode } from './supported-node.js';

it.each([
  ['20.20.2', true],
  ['22.18.9', true],
  ['8.0.0', true],
  ['22.19.0', false],
  ['23.0.0', false],
  ['24.9.0', false],
  ['100.1.0', false],
])('Node %s: refused is %s', (node, isRefused) => {
  const problem = unsupportedNode({ node });
  expect(problem !== undefined).toBe(isRefused);
  if (isRefused) expect(problem).toContain(`requires Node.js 22.19 or newer; this is ${node}`);
});

it('does not judge Bun and Deno by the Node that they stand for', () => {
  expect(unsupportedNode({ node: '20.0.0', bun: '1.0.0' })).toBeUndefined();
  expect(unsupportedNode({ node: '20.0.0', deno: '2.0.0' })).toBeUndefined();
  expect(unsupportedNode({})).toBeUndefined();
});

it('agrees with the manifest', () => {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(manifest).toMatchObject({ engines: { node: '>=22.19' } });
});
