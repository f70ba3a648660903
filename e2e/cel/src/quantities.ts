/**
 * `quantities [--texts N] [--seed S]`: random texts through Go's `resource.ParseQuantity` and ours: the same verdict and
 * message, the same value, the same canonical and stored text.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isQuantityError, parseQuantity } from '@kctl/apimachinery';
import { storedQuantity } from '@kctl/apimachinery/internal';
import { randomOf } from './generate.js';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: { texts: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});
const random = randomOf(Number(values.seed));
const pick = (items: readonly string[]): string => items[Math.floor(random() * items.length)] ?? '';
const digits = (most: number): string =>
  Array.from({ length: Math.floor(random() * (most + 1)) }, () => pick([...'0001234567899'])).join('');
const suffixes = [
  ...['', '', '', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'],
  'x',
];

function text(): string {
  const number =
    pick(['', '', '', '+', '-']) +
    digits(random() < 0.1 ? 40 : 6) +
    (random() < 0.4 ? `.${digits(random() < 0.1 ? 20 : 4)}` : '');
  if (random() < 0.3) return `${number}${pick(['e', 'E'])}${pick(['', '+', '-'])}${digits(random() < 0.1 ? 3 : 2)}`;
  if (random() < 0.05) return number + Array.from({ length: 3 }, () => pick([...'eEinumkKMGTP+-0123. '])).join('');
  return number + pick(suffixes);
}

const source = join(import.meta.dirname, '..', 'oracle');
const cache = join(process.env['KCTL_CACHE'] ?? join(homedir(), '.cache'), 'kctl', 'cel-oracle');
mkdirSync(cache, { recursive: true });
const binary = join(cache, 'quantities');
const built = spawnSync('go', ['build', '-buildvcs=false', '-o', binary, './quantities'], {
  cwd: source,
  encoding: 'utf8',
});
if (built.status !== 0) throw new Error(`build the oracle: ${built.stderr || String(built.error)}`);

interface Answer {
  readonly error?: string;
  readonly canonical?: string;
  readonly nanos?: string;
}

function ours(quantity: string): Answer {
  try {
    return { canonical: storedQuantity(quantity), nanos: String(parseQuantity(quantity).nanos) };
  } catch (error) {
    if (isQuantityError(error)) return { error: error.serverMessage };
    throw error;
  }
}

const texts = Array.from({ length: Number(values.texts) }, text);
const input = texts.map((each) => JSON.stringify(each)).join('\n');
const { stdout } = spawnSync(binary, { input, encoding: 'utf8', maxBuffer: 2 ** 30 });
const answers = stdout
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Answer);
let differences = 0;
for (const [index, { error, canonical, nanos }] of answers.entries()) {
  const theirs = JSON.stringify(error === undefined ? { canonical, nanos } : { error });
  const mine = JSON.stringify(ours(texts[index] ?? ''));
  if (theirs === mine) continue;
  differences += 1;
  if (differences <= 20) console.log(`${JSON.stringify(texts[index])}\n  Go:   ${theirs}\n  ours: ${mine}`);
}
console.log(`${answers.length} texts (seed ${values.seed}), ${differences} differ`);
if (answers.length !== texts.length || differences > 0) process.exitCode = 1;
