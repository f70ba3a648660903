import { createHash } from 'node:crypto';

/** The longest name of a label value, a Service or a Deployment. */
const maxLength = 63;

/** A name with a suffix, cut to 63 characters. A hash keeps names with the same beginning distinct. */
export function boundedName(name: string, suffix = ''): string {
  const whole = `${name}${suffix}`;
  if (whole.length <= maxLength) return whole;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, 8);
  return `${name.slice(0, maxLength - suffix.length - hash.length - 1).replace(/-+$/, '')}-${hash}${suffix}`;
}
