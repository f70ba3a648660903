// What kube-openapi's strfmt takes: compared with it on 1.2 million texts; e2e/crd compares with kube-apiserver.
import { expect, it } from 'vitest';
import { matchesFormat } from './formats.js';

it.each<[format: string, taken: readonly string[], refused: readonly string[]]>([
  ['ipv4', ['10.0.0.1', '010.0.0.01', '::ffff:1.2.3.4'], ['10.0.0', '::1', '1.2.3.4%eth0']],
  ['ipv6', ['::1', '::ffff:1.2.3.4'], ['10.0.0.1', 'fe80::1%eth0', ':::']],
  ['ipv4', ['::00ffff:001.2.3.4'], ['1.2.3.4%a', '0x1.2.3.4', '256.1.1.1', '::ffff']],
  ['cidr', ['010.0.0.0/08'], ['1.2.3.4/8/8', '1.2.3.4/']],
  ['mac', ['abcdef012345', '0123456789abcdef'], ['abcdef01234', 'abcd.ef01-2345']],
  ['isbn', ['0321751043', '978-0321751041', '0-8044-2957-X'], ['0321751044', '080442957x', '9780321751042', '']],
  ['isbn10', ['080442957X'], ['9780321751041']],
  ['isbn13', ['978 0 321 75104 1'], ['0321751043']],
  ['creditcard', ['4111 1111-1111/1111', '340000000000009'], ['4111111111111112', '1234567812345670', '']],
  ['ssn', ['123-45-6789', '123 45-6789'], ['123456789', '123-456789', '12-345-6789']],
  ['rgbcolor', ['rgb( 0 ,99,255 )'], ['rgb(256,0,0)', 'rgb(01,0,0)', 'RGB(0,0,0)', 'rgb(0,0)']],
  [
    'email',
    ['a@b', 'Barry Gibbs <bg@x.org>', '"a b"@[::1] (home)', 'g:a@b;', '=?utf-8?q?a=20b?= <ä@ö>', 'a@b(c)', '.x <a@b>'],
    ['a', '@b', 'a..b@c', 'a@b.', 'a@b,c@d', '""@b', 'a@[1.2.3]', '=?big5?q?ab?= <a@b>', 'g:;', 'a@b (', 'a @ b'],
  ],
  [
    'uri',
    ['urn:x:y', '/a b', '*', 'http://[fe80::1%25eth0]:8080', 'http://ä/?q z', 'x://a:1:2', 'a:b c'],
    ['a', '', 'http://a:1:2', 'http://a b', 'http://[1.2.3.4]', 'http://a/%zz', 'http://a%41', 'http://[::1]x', '1:a'],
  ],
  ['k8s-short-name', ['a', 'a-b', 'a'.repeat(63)], ['A', 'a.b', '-a', 'a'.repeat(64), '']],
  ['k8s-long-name', ['a.b-c', `${'a'.repeat(100)}.b`, 'a'.repeat(253)], ['a..b', 'a.-b', 'a'.repeat(254)]],
  ['k8s-longname', ['a.b'], ['A']],
  ['duration', ['9999999h', '1 µs'], ['99999999999999999999s', '1\u00a0s', '1e']],
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
    ['2026-01-02T03:04:05Z', '2026-01-02t03:04:05.123+02:00', '2026-01-02T03:04:05x1Z', '2026-01-02T03:04:05Zt?'],
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

it.each([
  ...['duration', 'hostname', 'ipv4', 'ipv6', 'mac', 'date-time', 'cidr', 'uri', 'email', 'isbn', 'creditcard'],
  ...['rgbcolor', 'k8s-long-name', 'byte', 'uuid'],
])('%s of a long text ends', (format) => {
  for (const text of [
    '1'.repeat(200_000),
    '1 '.repeat(100_000),
    '0'.repeat(200_000),
    'a.'.repeat(100_000),
    '0.'.repeat(100_000),
    `${'0'.repeat(200_000)}g`,
    `"${'a\\\\b'.repeat(60_000)}`,
    `(${'('.repeat(200_000)}`,
    `http://${'%25'.repeat(60_000)}`,
    '\u00e4'.repeat(200_000),
  ])
    expect(typeof matchesFormat(format, text)).toBe('boolean');
});
