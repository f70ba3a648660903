import { defineKind } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { compileFieldPaths } from '@kctl/apimachinery/internal/wire';
import type { FieldPaths } from '@kctl/apimachinery/internal/wire';
import { expect, it } from 'vitest';
import { ByteDecoder } from './byte-decoder.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const node = compileFieldPaths(['spec.node']);

/** What is read of the second version of an object, whose body is `spec` and then `status`. */
function readAgain(
  specs: readonly [string, string],
  { paths, isLive = true }: { paths: readonly [FieldPaths | undefined, FieldPaths | undefined]; isLive?: boolean },
): { isSame: boolean; fields: readonly unknown[] | undefined } {
  let current = paths[0];
  const decoder = new ByteDecoder<KubeObject>({
    kind: Thing,
    freeze: true,
    keepManagedFields: false,
    transform: undefined,
    fieldPaths: () => current,
    onSkip: () => expect.unreachable(),
  });
  const frame = (version: number): Buffer =>
    Buffer.from(
      `{"type":"MODIFIED","object":{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"x","namespace":"a","resourceVersion":"${version}"},"spec":{"node":"${specs[version - 1]}"},"status":{"at":${version}}}}`,
    );
  const { stored } = decoder.frame(frame(1), () => undefined, true);
  current = paths[1];
  const { hasPresentFields, fields } = decoder.frame(frame(2), () => stored, isLive);
  return { isSame: hasPresentFields, fields };
}

it.each([
  ['takes over what did not change', ['n1', 'n1'], { paths: [node, node] }, { isSame: true, fields: undefined }],
  ['reads what has changed', ['n1', 'n2'], { paths: [node, node] }, { isSame: false, fields: ['n2'] }],
  ['reads of a list', ['n1', 'n1'], { paths: [node, node], isLive: false }, { isSame: false, fields: ['n1'] }],
  [
    'reads by other paths',
    ['n1', 'n1'],
    { paths: [node, compileFieldPaths(['status.at'])] },
    { isSame: false, fields: ['2'] },
  ],
  ['reads by the first paths', ['n1', 'n1'], { paths: [undefined, node] }, { isSame: false, fields: ['n1'] }],
  ['reads nothing without paths', ['n1', 'n1'], { paths: [node, undefined] }, { isSame: false, fields: undefined }],
] as const)('%s for the indices of an update', (_what, specs, options, expected) => {
  expect(readAgain(specs, options)).toEqual(expected);
});
