import type { FunctionEntry } from '../check/functions.js';
import { structType, type CelType } from '../types/type.js';
import { Failure, LibraryValue, noSuchOverload, type Value } from '../values/value.js';

class SemverValue extends LibraryValue {
  override readonly type: CelType = structType('kubernetes.Semver');
  readonly numbers: readonly bigint[];
  readonly prerelease: readonly string[];

  constructor(numbers: readonly bigint[], prerelease: readonly string[]) {
    super();
    this.numbers = numbers;
    this.prerelease = prerelease;
  }

  override equals(other: Value): boolean {
    return other instanceof SemverValue && compare(this, other) === 0n;
  }
}

function compareParts(a: string, b: string): bigint {
  const isANumber = /^\d+$/.test(a);
  const isBNumber = /^\d+$/.test(b);
  if (isANumber && isBNumber) return sign(BigInt(a), BigInt(b));
  if (isANumber !== isBNumber) return isANumber ? -1n : 1n;
  return sign(a, b);
}

function sign<T extends bigint | string>(a: T, b: T): bigint {
  return a < b ? -1n : a > b ? 1n : 0n;
}

function compare(a: SemverValue, b: SemverValue): bigint {
  for (const [index, number] of a.numbers.entries()) {
    const order = sign(number, b.numbers[index] ?? 0n);
    if (order !== 0n) return order;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return sign(BigInt(b.prerelease.length === 0 ? 0 : 1), BigInt(a.prerelease.length === 0 ? 0 : 1));
  }
  for (let index = 0; index < Math.max(a.prerelease.length, b.prerelease.length); index++) {
    const left = a.prerelease[index];
    const right = b.prerelease[index];
    if (left === undefined) return -1n;
    if (right === undefined) return 1n;
    const order = compareParts(left, right);
    if (order !== 0n) return order;
  }
  return 0n;
}

const pattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;
const maxNumber = 2n ** 64n - 1n;

function parse(text: string): SemverValue | Failure {
  if (text === '') return new Failure('Version string empty');
  const match = pattern.exec(text);
  if (match === null) {
    const parts = text.split('.');
    return new Failure(
      parts.length < 3 ? 'No Major.Minor.Patch elements found' : `Invalid version ${JSON.stringify(text)}`,
    );
  }
  const numbers = match.slice(1, 4).map(BigInt);
  if (numbers.some((number) => number > maxNumber)) return new Failure('value out of range');
  const prerelease = match[4]?.split('.') ?? [];
  const zeroed = prerelease.find((part) => /^0\d+$/.test(part));
  if (zeroed !== undefined)
    return new Failure(`Numeric PreRelease version must not contain leading zeroes "${zeroed}"`);
  return new SemverValue(numbers, prerelease);
}

function normalize(text: string): SemverValue | Failure {
  const [first = '', second, ...rest] = text.replace(/^v/, '').split('.');
  const parts = [first];
  if (second !== undefined) parts.push(second);
  if (rest.length > 0) parts.push(rest.join('.'));
  const plain = parts.map((part) => {
    if (part.length <= 1) return part;
    const trimmed = part.replace(/^0+/, '');
    return /^\d/.test(trimmed) ? trimmed : `0${trimmed}`;
  });
  if (plain.length < 3) {
    if (/[+-]/.test(plain.at(-1) ?? '')) return new Failure('short version cannot contain PreRelease/Build meta data');
    while (plain.length < 3) plain.push('0');
  }
  return parse(plain.join('.'));
}

function read([text, isLoose = false]: readonly Value[]): SemverValue | Failure {
  if (typeof text !== 'string') return noSuchOverload;
  return isLoose === true ? normalize(text) : parse(text);
}

function onTwo(call: (order: bigint) => Value): FunctionEntry['call'] {
  return ([a, b]) => (a instanceof SemverValue && b instanceof SemverValue ? call(compare(a, b)) : noSuchOverload);
}

function number(name: string, index: number): FunctionEntry {
  return {
    name,
    id: `semver_${name}`,
    type: `${semver}.(): int`,
    call: ([version]) => (version instanceof SemverValue ? (version.numbers[index] ?? 0n) : noSuchOverload),
  };
}

const semver = 'kubernetes.Semver';
const isSemver: FunctionEntry['call'] = (args) => !(read(args) instanceof Failure);

/** Kubernetes' semantic versions, version 1 of the library. */
export const semverLibrary: readonly FunctionEntry[] = [
  { name: 'semver', id: 'string_to_semver', type: `(string): ${semver}`, call: read },
  { name: 'semver', id: 'string_bool_to_semver', type: `(string, bool): ${semver}`, call: read },
  { name: 'isSemver', id: 'is_semver_string', type: '(string): bool', call: isSemver },
  { name: 'isSemver', id: 'is_semver_string_bool', type: '(string, bool): bool', call: isSemver },
  {
    name: 'isGreaterThan',
    id: 'semver_is_greater_than',
    type: `${semver}.(${semver}): bool`,
    call: onTwo((order) => order > 0n),
  },
  {
    name: 'isLessThan',
    id: 'semver_is_less_than',
    type: `${semver}.(${semver}): bool`,
    call: onTwo((order) => order < 0n),
  },
  { name: 'compareTo', id: 'semver_compare_to', type: `${semver}.(${semver}): int`, call: onTwo((order) => order) },
  number('major', 0),
  number('minor', 1),
  number('patch', 2),
];
