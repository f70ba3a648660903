import type { OptionCheck } from '@kctl/options';
import { numberProblem, shownValue, unknownOptions } from '@kctl/options';

/** {@link ObjectStorage} `compact`, with the choice that it has. */
export interface CompactStorageOptions {
  /** How many bytes of objects stay as they came, those that came last. @default 16 MiB */
  readonly plainBytes?: number;
}

/**
 * How unread objects are kept. `plain`: their bytes, until an object is read, from then on the object. `compact`: their
 * bytes for good, compressed with a dictionary learned from the kind when newer ones have come; a read object is in memory
 * while it is referred to.
 */
export type ObjectStorage = 'plain' | 'compact' | CompactStorageOptions;

/** `compact`, with the choices made. */
export interface CompactStorage {
  readonly plainBytes: number;
}

const defaultPlainBytes = 16 * 1024 * 1024;

/** A check that an option is an {@link ObjectStorage}. */
export const storageOption: OptionCheck = (name, value) => {
  if (value === 'plain' || value === 'compact') return undefined;
  if (typeof value !== 'object' || value === null)
    return `${name} ${shownValue(value)} is not valid: expected 'plain', 'compact' or { plainBytes }`;
  const [unknown] = unknownOptions(value, ['plainBytes'], `${name}.`);
  const plainBytes: unknown = Reflect.get(value, 'plainBytes');
  return unknown ?? (plainBytes === undefined ? undefined : numberProblem(`${name}.plainBytes`, plainBytes));
};

/** @throws TypeError if objects would be mutable */
export function compactStorageOf(caller: string, storage: ObjectStorage, freeze: boolean): CompactStorage | undefined {
  if (storage === 'plain') return undefined;
  if (!freeze)
    throw new TypeError(
      `${caller}: storage 'compact' needs frozen objects: an object that was changed would be as it came when it is read again; leave out freeze: false`,
    );
  const { plainBytes = defaultPlainBytes } = storage === 'compact' ? {} : storage;
  return { plainBytes };
}
