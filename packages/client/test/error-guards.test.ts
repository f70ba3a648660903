import { describe, expect, it } from 'vitest';
import { isKubeConfigError, KubeConfigError } from '../src/connection/index.js';
import { isApplyConflict, isNamespaceMismatch, isObjectDeleting, isWatchClosed } from '../src/index.js';
import { ApplyConflictError } from '../src/apply.js';
import { ObjectDeletingError } from '../src/finalizer.js';
import { NamespaceMismatchError } from '../src/namespaced.js';
import { WatchClosedError } from '../src/watching/errors.js';
import { isStorageMigration, StorageMigrationError } from '../src/operations/index.js';

describe.each([
  ['isApplyConflict', isApplyConflict, ApplyConflictError],
  ['isKubeConfigError', isKubeConfigError, KubeConfigError],
  ['isNamespaceMismatch', isNamespaceMismatch, NamespaceMismatchError],
  ['isObjectDeleting', isObjectDeleting, ObjectDeletingError],
  ['isStorageMigration', isStorageMigration, StorageMigrationError],
  ['isWatchClosed', isWatchClosed, WatchClosedError],
] as readonly (readonly [string, (error: unknown) => boolean, { readonly prototype: Error }])[])(
  '%s',
  (_name, isOne, errorClass) => {
    const own = Reflect.construct(errorClass as new (...given: unknown[]) => Error & { code: string }, [[], 'x', {}]);
    it('recognizes its error, also one of another copy of the package', () => {
      expect(isOne(own)).toBe(true);
      expect(isOne(Object.assign(new Error('x'), { code: own.code }))).toBe(true);
    });

    it('refuses other errors and what is no error', () => {
      const others = [new Error('x'), Object.assign(new Error('x'), { code: 'OTHER' }), { code: own.code }, null, 'x'];
      expect(others.map(isOne)).toEqual(others.map(() => false));
    });
  },
);
