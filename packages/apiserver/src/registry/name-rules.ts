export type { NameRule } from '@kctl/crd/engine';
export {
  configMapKey,
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  labelKey,
  labelName,
  pathSegment,
  portName,
  rangeError,
  regexError,
  subdomainName,
  validLabelValue,
} from '@kctl/crd/engine';
