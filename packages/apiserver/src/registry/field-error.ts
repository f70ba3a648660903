export type { FieldError, FieldErrorReason } from '@kctl/crd/engine';
export {
  duplicate,
  forbidden,
  formatFieldError,
  formatFieldErrors,
  invalidValue,
  notFoundValue,
  notSupported,
  quoteValue,
  required,
  toCauses,
  tooLong,
  tooMany,
  typeInvalid,
} from '@kctl/crd/engine';
