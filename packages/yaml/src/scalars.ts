/**
 * A scalar with the type that go-yaml v2 gives it; sigs.k8s.io/yaml, and with it kubectl and the API server, applies its rules:
 * booleans and octal numbers of YAML 1.1, no numbers to the base of 60, dates as strings. An integer and a float of one value
 * differ as keys of a mapping. Mirrors `resolve.go` of go.yaml.in/yaml/v2.
 */
export type Scalar =
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'integer'; readonly value: bigint }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'null'; readonly value: null };

const words: ReadonlyMap<string, Scalar> = new Map<string, Scalar>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word): [string, Scalar] => [
    word,
    { type: 'boolean', value: true },
  ]),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word): [string, Scalar] => [
    word,
    { type: 'boolean', value: false },
  ]),
  ...['', '~', 'null', 'Null', 'NULL'].map((word): [string, Scalar] => [word, { type: 'null', value: null }]),
  ...['.nan', '.NaN', '.NAN'].map((word): [string, Scalar] => [word, { type: 'float', value: Number.NaN }]),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word): [string, Scalar] => [
    word,
    { type: 'float', value: Number.POSITIVE_INFINITY },
  ]),
  ...['-.inf', '-.Inf', '-.INF'].map((word): [string, Scalar] => [
    word,
    { type: 'float', value: Number.NEGATIVE_INFINITY },
  ]),
]);

/** The value of a plain scalar without a tag. */
export function resolvePlain(source: string): Scalar {
  return words.get(source) ?? numberOf(source) ?? { type: 'string', value: source };
}

const minimum = -(2n ** 63n);
const maximum = 2n ** 64n - 1n;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

function numberOf(source: string): Scalar | undefined {
  if (source.startsWith('.')) return floatOf(source);
  if (!/^[-+0-9]/.test(source)) return undefined;
  const digits = source.replaceAll('_', '');
  return integerOf(digits) ?? floatOf(digits);
}

/** Decimal, `0x`, `0b`, `0o`, and octal by a leading zero, within 64 bits with or without sign. */
function integerOf(digits: string): Scalar | undefined {
  const match = /^([-+]?)(?:(0[xX])([0-9a-fA-F]+)|(0[bB])([01]+)|(0[oO]?)([0-7]+)|(0|[1-9][0-9]*))$/.exec(digits);
  if (match === null) return signedBinary(digits);
  const [, sign = '', , hexadecimal, , binary, , octal, decimal] = match;
  const magnitude =
    hexadecimal !== undefined
      ? BigInt(`0x${hexadecimal}`)
      : binary !== undefined
        ? BigInt(`0b${binary}`)
        : octal !== undefined
          ? BigInt(`0o${octal}`)
          : BigInt(decimal ?? '0');
  const value = sign === '-' ? -magnitude : magnitude;
  // A sign makes a number one of 63 bits: an unsigned one is read without it.
  const isTooLarge = sign === '' ? value > maximum : value >= 2n ** 63n;
  return value < minimum || isTooLarge ? undefined : { type: 'integer', value };
}

/** go-yaml reads a sign after `0b`, too. */
function signedBinary(digits: string): Scalar | undefined {
  const [, sign, bits] = /^0b([-+])([01]+)$/.exec(digits) ?? [];
  if (bits === undefined || bits.replace(/^0+/, '').length > 63) return undefined;
  const magnitude = BigInt(`0b${bits}`);
  return { type: 'integer', value: sign === '-' ? -magnitude : magnitude };
}

function floatOf(source: string): Scalar | undefined {
  if (!float.test(source)) return undefined;
  const value = Number(source);
  // Beyond the range of a double, go-yaml has a string.
  return Number.isFinite(value) ? { type: 'float', value } : undefined;
}

const prefix = 'tag:yaml.org,2002:';

/**
 * The value of a scalar with a tag, `!!int` as `tag:yaml.org,2002:int`.
 * A source that is not of the tag gives a problem.
 */
export function resolveTagged(tag: string, source: string): Scalar | { readonly problem: string } {
  const name = tag.startsWith(prefix) ? tag.slice(prefix.length) : undefined;
  const refused = { problem: `cannot decode ${JSON.stringify(source)} as a !!${name ?? tag}` };
  switch (name) {
    case 'bool':
    case 'int':
    case 'null': {
      const found = resolvePlain(source);
      const type = { bool: 'boolean', int: 'integer', null: 'null' }[name];
      return found.type === type ? found : refused;
    }
    case 'float': {
      const found = resolvePlain(source);
      if (found.type === 'integer') return { type: 'float', value: Number(found.value) };
      return found.type === 'float' ? found : refused;
    }
    case 'timestamp':
      return isTimestamp(source) ? { type: 'string', value: source } : refused;
    case 'binary':
      return decodeBinary(source) ?? { problem: '!!binary value contains invalid base64 data' };
    default:
      return { type: 'string', value: source };
  }
}

function decodeBinary(source: string): Scalar | undefined {
  const packed = source.replaceAll(/[\r\n]/g, '');
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(packed)) return undefined;
  return { type: 'string', value: Buffer.from(packed, 'base64').toString('utf8') };
}

/** One of the four layouts that go-yaml has for a time. */
function isTimestamp(source: string): boolean {
  const match =
    /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(?:Z|[-+](\d{2}):(\d{2})))|(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?))?$/.exec(
      source,
    );
  if (match === null) return false;
  const [, year, month, day, hour = match[9], minute = match[10], second = match[11], zoneHour, zoneMinute] = match;
  const inRange = (value: string | undefined, limit: number): boolean => value === undefined || Number(value) <= limit;
  const days = new Date(Date.UTC(2000, Number(month), 0)).getUTCDate();
  const isLeap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0);
  const lastDay = Number(month) === 2 && !isLeap ? 28 : days;
  return (
    Number(month) >= 1 &&
    Number(month) <= 12 &&
    Number(day) >= 1 &&
    Number(day) <= lastDay &&
    inRange(hour, 23) &&
    inRange(minute, 59) &&
    inRange(second, 59) &&
    inRange(zoneHour, 24) &&
    inRange(zoneMinute, 60)
  );
}

/** The scalar as a key of a JSON object. Undefined for one that Go refuses: null, and an integer of 64 bits without sign. */
export function keyOf(scalar: Scalar): string | undefined {
  switch (scalar.type) {
    case 'string':
      return scalar.value;
    case 'boolean':
      return String(scalar.value);
    case 'integer':
      return scalar.value < 2n ** 63n ? String(scalar.value) : undefined;
    case 'float':
      return float32Key(scalar.value);
    case 'null':
      return undefined;
  }
}

/** Go's `FormatFloat(value, 'g', -1, 32)`: the shortest digits that give the same float of 32 bits. */
function float32Key(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  const narrow = Math.fround(value);
  if (!Number.isFinite(narrow)) return narrow > 0 ? '.inf' : '-.inf';
  if (narrow === 0) return Object.is(narrow, -0) ? '-0' : '0';
  let text = narrow.toExponential();
  for (let digits = 0; digits <= 9; digits++) {
    text = narrow.toExponential(digits);
    if (Math.fround(Number(text)) === narrow) break;
  }
  const [mantissa = '', power = '0'] = text.split('e');
  const exponent = Number(power);
  const trimmed = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  if (exponent < -4 || exponent >= 6)
    return `${trimmed}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  return plainDecimal(trimmed, exponent);
}

/** A number without an exponent. */
function plainDecimal(mantissa: string, exponent: number): string {
  const sign = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  if (exponent >= digits.length - 1) return `${sign}${digits}${'0'.repeat(exponent - digits.length + 1)}`;
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}
