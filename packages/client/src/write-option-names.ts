import type { OptionNames } from '@kctl/options';
import type { PatchOptions, WriteOptions } from './options.js';

/** For helpers that pass options on to a write. They refuse unknown ones even if there is nothing to write. */
export const writeOptionNames: OptionNames<WriteOptions> = {
  signal: true,
  dryRun: true,
  fieldOwner: true,
  fieldValidation: true,
};

/** As {@link writeOptionNames}, of a patch. */
export const patchOptionNames: OptionNames<PatchOptions> = { ...writeOptionNames, force: true };
