import { isInvalid } from '@kctl/apimachinery';

/** Messages with which API servers refuse a change of a field that cannot change. */
const immutable =
  /immutable|updates to \w+ spec for fields other than|may not (be )?changed? once set|(may|can) ?not be (changed|updated|modified)|cannot change/i;

/** Whether an apply was refused because another object has the name by now. */
export function isOtherObject(error: unknown): boolean {
  return isInvalid(error) && (error.status.details?.causes ?? []).some(({ field }) => field === 'metadata.uid');
}

/**
 * Whether a server refused a change because of immutable fields alone, which only another object can have. Any other
 * invalid field means that the other object would be refused, too.
 */
export function isImmutableRefusal(error: unknown): boolean {
  if (!isInvalid(error)) return false;
  const messages = (error.status.details?.causes ?? []).map(({ message }) => message ?? '').filter(Boolean);
  const said = messages.length > 0 ? messages : [error.message];
  return said.every((message) => immutable.test(message));
}
