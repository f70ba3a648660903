import { isIPv4, isIPv6 } from 'node:net';

/** Strips leading zeros of the parts, because Kubernetes accepts them although Go no longer does. */
function withoutZeros(text: string): string {
  return text
    .split(/([:.])/)
    .map((part) => part.replace(/^0+(?=[0-9a-f])/i, ''))
    .join('');
}

function isSloppyAddress(text: string): boolean {
  if (text.includes('%')) return false;
  const plain = withoutZeros(text);
  return isIPv4(plain) || isIPv6(plain);
}

/** An address with a point in it, of version 6, too. */
export function isIpv4Text(text: string): boolean {
  return text.includes('.') && isSloppyAddress(text);
}

/** An address with a colon in it. */
export function isIpv6Text(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

/** An address and the length of its network. */
export function isCidrText(text: string): boolean {
  const slash = text.indexOf('/');
  const [address, bits] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)];
  if (!/^\d+$/.test(bits) || !isSloppyAddress(address)) return false;
  return Number(bits) <= (address.includes(':') ? 128 : 32);
}

const letter = 'a-zA-Z\\p{L}';
const sign = `${letter}0-9\\p{S}`;
const hostname = new RegExp(
  `^([${sign}](-?[${sign}]{0,62})?|([${sign}]([-${sign}]{0,61}[${sign}])?\\.)+[${letter}]{2,63})$`,
  'u',
);

/** Letters and symbols of any script are allowed, and no dot without a top-level domain behind it. */
export function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  return hostname.test(text) && text.split('.').every((part) => Buffer.byteLength(part) <= 63);
}

/** An address of 6, 8 or 20 bytes, in pairs, in fours between dots, or without separators. As Go's `net.ParseMAC`. */
export function isMac(text: string): boolean {
  const pairs = /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2})*)?$/i.test(text);
  const fours = /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i.test(text);
  if (!pairs && !fours && !/^[0-9a-f]+$/i.test(text)) return false;
  const digits = text.replaceAll(/[:.-]/g, '').length;
  return digits === 12 || digits === 16 || digits === 40;
}
