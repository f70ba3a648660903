import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineResource, isResourceDefinitionError } from '../index.js';

const base = { group: 'shop.example.com', kind: 'Website' } as const;
const spec = z.object({ size: z.int32() });

/** As plain JavaScript calls it. */
function define(options: unknown): unknown {
  return Reflect.apply(defineResource, undefined, [options]);
}

function problemsOf(options: unknown): readonly string[] {
  try {
    define(options);
  } catch (error) {
    if (!isResourceDefinitionError(error)) throw error;
    return error.problems.map(({ field, problem, remedy }) => [field, problem, remedy].filter(Boolean).join(': '));
  }
  return [];
}

const version = (more: object): object => ({ ...base, versions: { v1: { spec, ...more } } });

describe('options of a resource', () => {
  it('refuses those of a version that are not known, to which TypeScript does not object', () => {
    const columns = [{ name: 'Size', path: '.spec.size' }];
    const misspelled = (): unknown =>
      defineResource({ ...base, versions: { v1: { spec, additionalPrinterColumns: columns, printColums: columns } } });
    expect(misspelled).toThrow('v1: unknown option "printColums": did you mean "printColumns"?');
    expect(misspelled).toThrow(
      'v1: unknown option "additionalPrinterColumns": expected deprecated, description, fields',
    );
  });

  it.each<[object, readonly string[]]>([
    [{ ...version({}), shortName: ['w'] }, ['options: unknown option "shortName": did you mean "shortNames"?']],
    [{ ...base }, ['versions: undefined is not valid: expected the versions by name: { v1: { spec: … } }']],
    [{ ...base, versions: { v1: null } }, ['v1: null is not valid: expected the options of a version: { spec: … }']],
    [
      version({ spec: { size: 1 }, status: 'none' }),
      ['spec: of type object', 'status: "none"'].map(
        (each) => `v1 ${each} is not valid: expected a schema of zod, ArkType or the like, or fromJsonSchema(…)`,
      ),
    ],
    [
      version({ printColumns: [{ name: 'Size', jsonPath: '.spec.size' }, null] }),
      [
        'v1 printColumns[0]: unknown option "jsonPath": expected description, format, name, path, priority, type',
        'v1 printColumns[0].path: undefined is not valid: expected a JSON path: ".spec.size"',
        'v1 printColumns[1]: options null is not valid: expected an object of options',
      ],
    ],
    [
      version({ selectableFields: [{ jsonPath: '.spec.size' }], printColumns: {} }),
      [
        'v1 printColumns: of type object is not valid: expected a list',
        'v1 selectableFields[0]: of type object is not valid: expected a JSON path: ".spec.size"',
      ],
    ],
    [
      version({ scale: { replicasPath: '.spec.size' } }),
      ['v1: unknown option "scale.replicasPath": did you mean "specReplicasPath"?'],
    ],
  ])('names what is wrong with %o', (options, problems) => {
    expect(problemsOf(options)).toEqual(problems);
  });

  it.each([undefined, null, [], 'Website'])('wants an object, not %o', (options) => {
    expect(() => define(options)).toThrow(TypeError);
    expect(() => define(options)).toThrow('defineResource: expected options, not');
  });
});

describe('options of a validation', () => {
  const Website = defineResource({ ...base, versions: { v1: { spec } } });
  const object = { metadata: { name: 'a' }, spec: { size: 1 } };
  const validate = (options: object) => (): unknown => Reflect.apply(Website.validate, undefined, [object, options]);

  it('refuses those that are not known, as an update would be judged as a creation', () => {
    expect(validate({ oldObject: object })).toThrow('validate: unknown option "oldObject": expected old, subresource');
    expect(validate({ old: object, subresource: 'scale' })).toThrow(
      'validate: subresource "scale" is not valid: expected "status"',
    );
  });

  it('says of what is not an object that it is not valid', () => {
    const create = (given: unknown) => (): unknown => Reflect.apply(Website.create, undefined, [given]);
    for (const given of [null, undefined, 'a', []]) expect(create(given)).toThrow('Website is not valid: ');
  });
});
