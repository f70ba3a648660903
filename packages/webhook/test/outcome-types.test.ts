import type { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { expect, it } from 'vitest';
import { chainValidators } from '../src/index.js';
import type { Validator } from '../src/index.js';

it('accepts validators that return nothing, warnings, or a promise of either, by type', () => {
  const validators: readonly Validator<ConfigMap>[] = [
    {
      validateCreate: ({ metadata: { name = '' } }) => {
        if (name.length <= 52) return;
        throw new Error('too long');
      },
      validateUpdate: () => {
        expect.unreachable();
      },
      validateDelete: async ({ metadata }) => {
        if (metadata.name === 'kept') throw new Error('is kept');
      },
    },
    {
      validateCreate: () => ['deprecated'],
      validateUpdate: async () => ['deprecated'],
      validateDelete: () => undefined,
    },
    { validateCreate: (): void => undefined, validateUpdate: async (): Promise<void> => undefined },
  ];
  expect(Object.keys(chainValidators(...validators))).toEqual(['validateCreate', 'validateUpdate', 'validateDelete']);
});
