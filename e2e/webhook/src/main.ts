/** `--server embedded|real --seconds N --rate N [--out FILE]`, or `--attack --seconds N --rate N`: see README.md. */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { addTotals } from '@kctl/totals';
import { runAttack } from './attack.js';
import { runRotation, violationsOf } from './rotation.js';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    server: { type: 'string', default: 'embedded' },
    seconds: { type: 'string', default: '60' },
    rate: { type: 'string', default: '200' },
    out: { type: 'string' },
    attack: { type: 'boolean', default: false },
  },
});

if (values.attack) {
  const perSecond = Number(values.rate);
  const reviews = Number(values.seconds) * perSecond;
  const report = await runAttack({ attack: ['announced', 'streams'], protocol: 'HTTP/2', reviews, perSecond });
  console.log(
    `4 connections and 37 streams that announce 519 MiB: ${report.reviews} admissions at ${perSecond} a second, ${report.refused} refused`,
  );
  process.exit(report.refused === 0 ? 0 : 1);
}

const report = await runRotation({
  server: values.server === 'real' ? 'real' : 'embedded',
  seconds: Number(values.seconds),
  rate: Number(values.rate),
});
const text = `${JSON.stringify(report, undefined, 2)}\n`;
process.stdout.write(text);
if (values.out !== undefined) await writeFile(values.out, text);
const violations = violationsOf(report);
for (const violation of violations.slice(0, 20)) console.error(violation);
const suite = `certificate rotation on the ${report.server} server`;
addTotals({ suite, passed: violations.length === 0 ? 1 : 0, failed: violations.length === 0 ? 0 : 1, skipped: 0 });
console.log(
  `${report.reviewsPerSecond} admissions a second, ${report.authorities} authorities, ${report.certificates} certificates, ${violations.length} violations`,
);
if (violations.length > 0) process.exitCode = 1;
