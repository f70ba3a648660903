import { isIPv4, isIPv6 } from 'node:net';
import type { FunctionEntry } from '../check/functions.js';
import { SizedLibraryValue } from '../cost/sizes.js';
import { opaqueType, type CelType } from '../types/type.js';
import { Failure, noSuchOverload, type Value } from '../values/value.js';

function parseV4(text: string): bigint | undefined {
  if (!isIPv4(text) || /(?:^|\.)0\d/.test(text)) return undefined;
  return text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
}

function parseV6(text: string): bigint | undefined {
  if (!isIPv6(text)) return undefined;
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const last = tail === null ? undefined : parseV4(tail[2] ?? '');
  if (tail !== null && last === undefined) return undefined;
  const plain =
    last === undefined ? text : `${tail?.[1] ?? ''}${(last >> 16n).toString(16)}:${(last & 0xffffn).toString(16)}`;
  const [head = '', rest] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = rest === undefined || rest === '' ? [] : rest.split(':');
  const zeros = new Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return [...before, ...zeros, ...after].reduce((sum, part) => sum * 65_536n + BigInt(`0x${part}`), 0n);
}

function formatV6(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => Number((bits >> BigInt(112 - 16 * index)) & 0xffffn));
  let start = -1;
  let length = 1;
  for (let index = 0; index < 8; index++) {
    let end = index;
    while (end < 8 && groups[end] === 0) end++;
    if (end - index > length) {
      start = index;
      length = end - index;
    }
  }
  const text = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  if (start < 0) return text(groups);
  return `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`;
}

class IpValue extends SizedLibraryValue {
  override readonly type: CelType = opaqueType('net.IP');
  readonly bits: bigint;
  readonly isV4: boolean;

  constructor(bits: bigint, isV4: boolean) {
    super();
    this.bits = bits;
    this.isV4 = isV4;
  }

  override get size(): number {
    return this.isV4 ? 4 : 16;
  }

  override equals(other: Value): boolean {
    return other instanceof IpValue && other.isV4 === this.isV4 && other.bits === this.bits;
  }

  format(): string {
    if (!this.isV4) return formatV6(this.bits);
    return [24n, 16n, 8n, 0n].map((shift) => String((this.bits >> shift) & 255n)).join('.');
  }
}

class CidrValue extends SizedLibraryValue {
  override readonly type: CelType = opaqueType('net.CIDR');
  readonly address: IpValue;
  readonly length: number;

  constructor(address: IpValue, length: number) {
    super();
    this.address = address;
    this.length = length;
  }

  override get size(): number {
    return Math.ceil(this.length / 8);
  }

  override equals(other: Value): boolean {
    return other instanceof CidrValue && other.length === this.length && other.address.equals(this.address);
  }

  masked(): CidrValue {
    const shift = BigInt((this.address.isV4 ? 32 : 128) - this.length);
    return new CidrValue(new IpValue((this.address.bits >> shift) << shift, this.address.isV4), this.length);
  }

  contains(ip: IpValue): boolean {
    if (ip.isV4 !== this.address.isV4) return false;
    const shift = BigInt((ip.isV4 ? 32 : 128) - this.length);
    return ip.bits >> shift === this.address.bits >> shift;
  }
}

function parseIp(text: string): IpValue | Failure {
  const prefix = `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): `;
  if (text.includes('%')) return new Failure(`IP address ${JSON.stringify(text)} with zone value is not allowed`);
  const v4 = parseV4(text);
  if (v4 !== undefined) return new IpValue(v4, true);
  const v6 = parseV6(text);
  if (v6 === undefined) return new Failure(`${prefix}unable to parse IP`);
  if (v6 >> 32n === 0xffffn) return new Failure(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`);
  return new IpValue(v6, false);
}

function parseCidr(text: string): CidrValue | Failure {
  const fail = (problem: string): Failure =>
    new Failure(
      `network address parse error during conversion from string: netip.ParsePrefix(${JSON.stringify(text)}): ${problem}`,
    );
  const slash = text.lastIndexOf('/');
  if (slash < 0) return fail("no '/'");
  const ip = parseIp(text.slice(0, slash));
  if (ip instanceof Failure)
    return ip.message.startsWith('IPv4-mapped')
      ? ip
      : fail(`ParseAddr(${JSON.stringify(text.slice(0, slash))}): unable to parse IP`);
  const bits = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits)) return fail(`bad bits after slash: ${JSON.stringify(bits)}`);
  if (Number(bits) > (ip.isV4 ? 32 : 128)) return fail('prefix length out of range');
  return new CidrValue(ip, Number(bits));
}

function toCidr(text: string): Value | Failure {
  const cidr = parseCidr(text);
  if (!(cidr instanceof Failure)) return cidr;
  return new Failure(`network address parse error during conversion from string: ${cidr.message}`);
}

function isInV4(ip: IpValue, network: bigint, length: bigint): boolean {
  return ip.isV4 && ip.bits >> (32n - length) === network;
}

function isInV6(ip: IpValue, network: bigint, length: bigint): boolean {
  return !ip.isV4 && ip.bits >> (128n - length) === network;
}

const isLoopback = (ip: IpValue): boolean => (ip.isV4 ? isInV4(ip, 127n, 8n) : ip.bits === 1n);
const isMulticast = (ip: IpValue): boolean => (ip.isV4 ? isInV4(ip, 0xen, 4n) : isInV6(ip, 0xffn, 8n));
const isLinkLocal = (ip: IpValue): boolean => (ip.isV4 ? isInV4(ip, 0xa9fen, 16n) : isInV6(ip, 0x3fan, 10n));
const isLinkLocalMulticast = (ip: IpValue): boolean =>
  ip.isV4 ? isInV4(ip, 0xe00000n, 24n) : !ip.isV4 && ((ip.bits >> 112n) & 0xff0fn) === 0xff02n;
const isGlobal = (ip: IpValue): boolean =>
  ip.bits !== 0n && !(ip.isV4 && ip.bits === 0xffffffffn) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocal(ip);

function onIp(call: (ip: IpValue) => Value): FunctionEntry['call'] {
  return ([ip]) => (ip instanceof IpValue ? call(ip) : noSuchOverload);
}

function onText(call: (text: string) => Value | Failure): FunctionEntry['call'] {
  return ([text]) => (typeof text === 'string' ? call(text) : noSuchOverload);
}

function onCidr(call: (cidr: CidrValue, other: Value) => Value | Failure): FunctionEntry['call'] {
  return ([cidr, other = null]) => (cidr instanceof CidrValue ? call(cidr, other) : noSuchOverload);
}

function containsIp(cidr: CidrValue, other: Value): Value | Failure {
  const ip = typeof other === 'string' ? parseIp(other) : other;
  if (ip instanceof Failure) return ip;
  return ip instanceof IpValue ? cidr.contains(ip) : noSuchOverload;
}

function containsCidr(cidr: CidrValue, other: Value): Value | Failure {
  const inner = typeof other === 'string' ? parseCidr(other) : other;
  if (inner instanceof Failure) return inner;
  if (!(inner instanceof CidrValue)) return noSuchOverload;
  return inner.length >= cidr.length && cidr.contains(inner.address);
}

/** Kubernetes' IP addresses and networks. */
export const ipLibrary: readonly FunctionEntry[] = [
  { name: 'ip', id: 'string_to_ip', type: '(string): net.IP', call: onText(parseIp) },
  { name: 'isIP', id: 'is_ip', type: '(string): bool', call: onText((text) => !(parseIp(text) instanceof Failure)) },
  {
    name: 'ip.isCanonical',
    id: 'ip_is_canonical',
    type: '(string): bool',
    call: onText((text) => {
      const ip = parseIp(text);
      return ip instanceof Failure ? ip : ip.format() === text;
    }),
  },
  { name: 'family', id: 'ip_family', type: 'net.IP.(): int', call: onIp((ip) => (ip.isV4 ? 4n : 6n)) },
  { name: 'isUnspecified', id: 'ip_is_unspecified', type: 'net.IP.(): bool', call: onIp((ip) => ip.bits === 0n) },
  { name: 'isLoopback', id: 'ip_is_loopback', type: 'net.IP.(): bool', call: onIp(isLoopback) },
  {
    name: 'isLinkLocalMulticast',
    id: 'ip_is_link_local_multicast',
    type: 'net.IP.(): bool',
    call: onIp(isLinkLocalMulticast),
  },
  { name: 'isLinkLocalUnicast', id: 'ip_is_link_local_unicast', type: 'net.IP.(): bool', call: onIp(isLinkLocal) },
  { name: 'isGlobalUnicast', id: 'ip_is_global_unicast', type: 'net.IP.(): bool', call: onIp(isGlobal) },
  { name: 'string', id: 'ip_to_string', type: '(net.IP): string', call: onIp((ip) => ip.format()) },
  { name: 'cidr', id: 'string_to_cidr', type: '(string): net.CIDR', call: onText(toCidr) },
  {
    name: 'isCIDR',
    id: 'is_cidr',
    type: '(string): bool',
    call: onText((text) => !(parseCidr(text) instanceof Failure)),
  },
  { name: 'containsIP', id: 'cidr_contains_ip_string', type: 'net.CIDR.(string): bool', call: onCidr(containsIp) },
  { name: 'containsIP', id: 'cidr_contains_ip_ip', type: 'net.CIDR.(net.IP): bool', call: onCidr(containsIp) },
  {
    name: 'containsCIDR',
    id: 'cidr_contains_cidr_string',
    type: 'net.CIDR.(string): bool',
    call: onCidr(containsCidr),
  },
  { name: 'containsCIDR', id: 'cidr_contains_cidr', type: 'net.CIDR.(net.CIDR): bool', call: onCidr(containsCidr) },
  { name: 'ip', id: 'cidr_ip', type: 'net.CIDR.(): net.IP', call: onCidr((cidr) => cidr.address) },
  {
    name: 'prefixLength',
    id: 'cidr_prefix_length',
    type: 'net.CIDR.(): int',
    call: onCidr((cidr) => BigInt(cidr.length)),
  },
  { name: 'masked', id: 'cidr_masked', type: 'net.CIDR.(): net.CIDR', call: onCidr((cidr) => cidr.masked()) },
  {
    name: 'string',
    id: 'cidr_to_string',
    type: '(net.CIDR): string',
    call: onCidr((cidr) => `${cidr.address.format()}/${cidr.length}`),
  },
];
