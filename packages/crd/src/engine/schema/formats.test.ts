// What kube-openapi's strfmt takes; e2e/crd compares a part of it with kube-apiserver.
import { expect, it } from 'vitest';
import { matchesFormat } from './formats.js';

it.each<[format: string, taken: readonly string[], refused: readonly string[]]>([
  ['ipv4', ['10.0.0.1', '010.0.0.01', '::ffff:1.2.3.4'], ['10.0.0', '::1', '1.2.3.4%eth0']],
  ['ipv6', ['::1', '::ffff:1.2.3.4'], ['10.0.0.1', 'fe80::1%eth0', ':::']],
  ['cidr', ['10.0.0.0/8', '::/128'], ['10.0.0.0/33', '10.0.0.0', '::/129', '10.0.0.0/+8']],
  [
    'hostname',
    ['a', 'a.bc', 'aGk=', 'münchen.de', 'x1', '😀.com'],
    ['a_b', 'a.b', '-a', 'a..bc', `${'a'.repeat(64)}.com`],
  ],
  [
    'mac',
    ['ab:cd:ef:01:23:45', 'ab-cd-ef-01-23-45', 'abcd.ef01.2345', '01:02:03:04:05:06:07:08'],
    ['ab:cd:ef', 'ab:cd-ef:01:23:45', ''],
  ],
  ['duration', ['1h30m', '-1.5h', '0', '2 hours', '3 Weeks', 'in 5min'], ['', '1', '5 parsecs', 'h']],
  [
    'date-time',
    ['2026-01-02T03:04:05Z', '2026-01-02t03:04:05.123+02:00'],
    ['2026-02-30T03:04:05Z', '2026-01-02T03:04:05', '2026-01-02T03:04:05+0200', '2026-01-02T24:00:00Z'],
  ],
  [
    'uuid4',
    ['6ba7b810-9dad-41d1-80b4-00c04fd430c8'],
    ['6ba7b810-9dad-41d1-70b4-00c04fd430c8', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'],
  ],
])('%s', (format, taken, refused) => {
  for (const text of taken) expect(matchesFormat(format, text), text).toBe(true);
  for (const text of refused) expect(matchesFormat(format, text), text).toBe(false);
});

it.each(['duration', 'hostname', 'ipv4', 'mac', 'date-time', 'cidr', 'uri'])('%s of a long text ends', (format) => {
  for (const text of [
    '1'.repeat(200_000),
    '1 '.repeat(100_000),
    '0'.repeat(200_000),
    'a.'.repeat(100_000),
    '\u00e4'.repeat(200_000),
  ])
    expect(typeof matchesFormat(format, text)).toBe('boolean');
});
