/**
 * `main.ts --seconds 60 --server embedded|real [--out file.json]`: three replicas without an API server for a while.
 * Exit code 1 on a violation.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { runOutage } from './run-outage.js';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    seconds: { type: 'string', default: '60' },
    server: { type: 'string', default: 'embedded' },
    out: { type: 'string' },
  },
});
const { server, seconds, out } = values;
if (server !== 'embedded' && server !== 'real') throw new TypeError('--server: embedded or real');

const report = await runOutage({ server, awayMs: Number(seconds) * 1000, log: (line) => console.log(line) });
for (const { identity, probes, ...rest } of report.replicas) {
  const answers = Object.entries(probes).map(
    ([name, { sent, failures, longestMs }]) => `${name} ${sent - failures.length}/${sent} (longest ${longestMs} ms)`,
  );
  console.log(`${identity}: ${answers.join(', ')}`);
  console.log(`   ${JSON.stringify(rest)}`);
}
for (const violation of report.violations) console.log('VIOLATION', violation);
console.log(
  `${server}: ${seconds} s without the API server: the leader gave up after ${report.leaderLostAfterMs ?? '–'} ms, ` +
    `one leads again ${report.leaderAgainAfterMs ?? '–'} ms after the return; ${report.violations.length} violations`,
);
if (out !== undefined)
  await writeFile(out, `${JSON.stringify({ server, seconds: Number(seconds), ...report }, null, 2)}\n`);
process.exit(report.violations.length > 0 ? 1 : 0);
