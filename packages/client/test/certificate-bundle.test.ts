import { describe, expect, it } from 'vitest';
import { certificateBundleProblem } from '../src/connection/index.js';
import { authorities } from './authorities.js';

const [first, second] = authorities;
const cases: [string, string, string | undefined][] = [
  ['one', first, undefined],
  ['two', `${first}${second}`, undefined],
  ['two without a last line break', `${first}${second.trimEnd()}`, undefined],
  ['comments, blank lines and other line ends', `# a\n${first}\n\nb\n${second}c`.replaceAll('\n', '\r\n'), undefined],
  ['a byte order mark', `\uFEFF${first}`, undefined],
  ['a block of another kind', `${first}-----BEGIN X-----\nAAAA\n-----END X-----\n${second}`, undefined],
  ['nothing', '', 'holds no PEM certificate'],
  ['text', 'PEM', 'holds no PEM certificate'],
  ['joined', `${first.trimEnd()}${second}`, 'number 1, that cannot be read: "-----BEGIN'],
  ['joined at the second', `${first}${second.trimEnd()}${first}`, 'number 2, that cannot be read: "-----BEGIN'],
  ['indented', `${first}  ${second}`, 'number 2'],
  ['cut', `${first}${second.slice(0, 200)}`, 'number 2, that cannot be read: it has no end'],
  ['begun twice', `-----BEGIN CERTIFICATE-----\n${first}`, 'number 1, that cannot be read: it has no end'],
  ['ended twice', `${first}-----END CERTIFICATE-----\n`, 'number 2, that cannot be read: it has no beginning'],
  ['a line less', `${first}${second.replace(/.{64}\n/, '')}`, 'number 2, that cannot be read'],
  ['nothing within', '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n', 'number 1, that cannot be read'],
  ['a marker that is misspelled', first.replace('-----END', '----END'), 'number 1, that cannot be read: it has no end'],
];

describe('certificateBundleProblem', () => {
  it.each(cases)('judges %s', (_what, bundle, problem) => {
    for (const given of [bundle, Buffer.from(bundle)]) {
      const found = certificateBundleProblem(given);
      if (problem === undefined) expect(found).toBeUndefined();
      else expect(found).toContain(problem);
    }
  });
});
