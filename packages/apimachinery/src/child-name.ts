import type { DeepReadonly, KubeObject } from './object.js';
import { requireOptions, type OptionNames } from '@kctl/options';

/** Options of {@link childName}. */
export interface ChildNameOptions {
  /** The longest name, 16 to 253. @default 63, the limit of labels and Services */
  readonly maxLength?: number;
}

const optionNames: OptionNames<ChildNameOptions> = { maxLength: true };
const defaultMaxLength = 63;

/**
 * Returns a name for a child of an object, `<owner>-<suffix>`. It is a DNS label, so that it is valid for Services,
 * Pods and labels. A name that would exceed 63 characters, or contain characters other than lower-case letters, digits
 * and "-", is shortened and gets a hash of the whole. The same owner and suffix always give the same name; different
 * ones give different names, except those that are equal once joined by "-".
 *
 * @throws TypeError when owner or suffix is empty
 *
 * @example
 * ```ts
 * import { childName } from '@kctl/apimachinery';
 *
 * console.log(childName('web', 'config')); // web-config
 * console.log(childName('a'.repeat(70), 'config').length); // 63
 * ```
 */
export function childName(
  owner: string | DeepReadonly<Pick<KubeObject, 'metadata'>>,
  suffix: string,
  options: ChildNameOptions = {},
): string {
  requireOptions('childName', options, optionNames);
  const { maxLength = defaultMaxLength } = options;
  const name = typeof owner === 'string' ? owner : nameOf(owner);
  for (const [field, value] of Object.entries({ owner: name, suffix }))
    if (typeof value !== 'string' || value === '')
      throw new TypeError(
        `childName: ${field} ${JSON.stringify(value)} is not valid: expected a name that is not empty`,
      );
  if (!Number.isInteger(maxLength) || maxLength < 16 || maxLength > 253)
    throw new TypeError(`childName: maxLength ${String(maxLength)} is not valid: expected an integer from 16 to 253`);
  const whole = `${name}-${suffix}`;
  if (whole.length <= maxLength && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(whole)) return whole;
  const hash = hashOf(whole);
  const label = whole
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '');
  const head = label.slice(0, maxLength - hash.length - 1).replace(/-+$/, '');
  return head === '' ? hash : `${head}-${hash}`;
}

/** Undefined for anything but an object with a name; values from JavaScript need not have the type. */
function nameOf(owner: unknown): string | undefined {
  if (typeof owner !== 'object' || owner === null || !('metadata' in owner)) return undefined;
  const { metadata } = owner;
  if (typeof metadata !== 'object' || metadata === null || !('name' in metadata)) return undefined;
  return typeof metadata.name === 'string' ? metadata.name : undefined;
}

/** Contains no vowels and no digits that resemble them, so that no words arise. As Kubernetes' `SafeEncodeString`. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const hashLength = 10;

/** FNV-1a of 64 bits over UTF-8, as ten characters. */
function hashOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text))
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  let encoded = '';
  for (let index = 0; index < hashLength; index++) {
    encoded += alphabet[Number(hash % BigInt(alphabet.length))] ?? '';
    hash /= BigInt(alphabet.length);
  }
  return encoded;
}
