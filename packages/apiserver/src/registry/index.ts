/**
 * What the server serves: kinds, their rules, and the errors they answer with.
 *
 * @packageDocumentation
 */
export { builtInDefinitions } from './builtins.js';
export { builtinRelease } from './builtin-table.js';
export { createRegistry } from './create-registry.js';
export type { ApiGroup, Registry, RegistryChange, RegistryOptions } from './registry.js';
export type {
  Decoded,
  DecodeInput,
  KindRef,
  ObjectView,
  ResourceDefinition,
  Subresource,
  TableColumn,
  UpdateStrategy,
  Verb,
  WriteContext,
} from './resource.js';
