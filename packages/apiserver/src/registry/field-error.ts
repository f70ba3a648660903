export type { FieldError } from '@kctl/crd/engine';
export {
  duplicate,
  forbidden,
  formatFieldErrors,
  invalidValue,
  notFoundValue,
  notSupported,
  required,
  toCauses,
  tooLong,
  tooMany,
} from '@kctl/crd/engine';
