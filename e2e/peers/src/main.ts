/** `pnpm run peers -- --suite <name> [--target embedded|real] [--only a,b] [--built] [--record]`: see README.md. */
import { parseArgs } from 'node:util';
import { updateReadmes } from './readme.js';
import { totals, writeResult, type SuiteResult, type TargetName } from './result.js';
import { controllerRuntime } from './suites/controller-runtime.js';
import { helm } from './suites/helm.js';
import { kubectl } from './suites/kubectl.js';
import { operators } from './suites/operators.js';
import { runTranscript } from './suites/transcripts.js';

interface RunOptions {
  readonly only: readonly string[];
  readonly isBuilt: boolean;
  readonly isRecording: boolean;
}

const suites: Readonly<Record<string, (target: TargetName, options: RunOptions) => Promise<SuiteResult>>> = {
  'controller-runtime': controllerRuntime,
  kubectl: (target, { isRecording }) => runTranscript(kubectl, target, isRecording),
  helm: (target, { isRecording }) => runTranscript(helm, target, isRecording),
  operators,
};

function isTarget(text: string): text is TargetName {
  return text === 'embedded' || text === 'real';
}

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    suite: { type: 'string' },
    target: { type: 'string', default: 'embedded' },
    only: { type: 'string' },
    built: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
});
const { suite: name = '', target, only, built, record } = values;
const suite = suites[name];
if (suite === undefined || !isTarget(target)) {
  console.error(`peers: --suite ${Object.keys(suites).join('|')} [--target embedded|real]`);
  process.exit(2);
}
const result = await suite(target, { only: only?.split(',') ?? [], isBuilt: built, isRecording: record });
// A part of a suite is no result of the suite.
if (only === undefined) {
  await writeResult(result);
  await updateReadmes();
}
const { passed, failed, skipped } = totals(result.groups);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;
