import { createBuiltin } from './builtin-definition.js';
import { builtinKinds } from '../resource/builtin-table.js';
import type { ResourceDefinition } from '../resource/resource.js';
import { strategyOf } from './strategies/index.js';

/** The built-in kinds. Their types are read when an object of theirs is first seen. */
export function builtInDefinitions(): ResourceDefinition[] {
  return builtinKinds().map((kind) => createBuiltin(kind, strategyOf(kind)));
}
