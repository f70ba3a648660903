import type { ResourceOptions, VersionOptions } from '@kctl/crd';

/** Settings that both generators have. */
export type Variant = Pick<
  ResourceOptions<Readonly<Record<string, VersionOptions>>, 'Namespaced'>,
  'embeddedMetadata' | 'maxDescriptionLength'
>;

/** A definition under some settings. */
export type Golden = (variant: Variant) => object;
