export type { Json } from '@kctl/crd/engine';
export { jsonText } from '@kctl/crd/engine';
