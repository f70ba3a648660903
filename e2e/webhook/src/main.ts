/** `--server embedded|real --seconds N --rate N [--out FILE]`: see README.md. */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { runRotation } from './rotation.js';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    server: { type: 'string', default: 'embedded' },
    seconds: { type: 'string', default: '60' },
    rate: { type: 'string', default: '200' },
    out: { type: 'string' },
  },
});

const report = await runRotation({
  server: values.server === 'real' ? 'real' : 'embedded',
  seconds: Number(values.seconds),
  rate: Number(values.rate),
});
const text = `${JSON.stringify(report, undefined, 2)}\n`;
process.stdout.write(text);
if (values.out !== undefined) await writeFile(values.out, text);
if (report.failures.length + report.wronglyAccepted + report.failedHandshakes.length > 0) process.exitCode = 1;
