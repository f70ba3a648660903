// ARCHITECTURE.md answers a newcomer's questions with files: they exist, are few, and contain what they are said to decide.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
const table = page.slice(page.indexOf('## Six questions'), page.indexOf('## Who declares what'));
const questions = [...table.matchAll(/^\| ([^|]+\?) \| (.+) \|$/gm)].map(([, question = '', answer = '']) => ({
  question,
  files: [...answer.matchAll(/\]\((packages\/[^)]+)\)/g)].map(([, file = '']) => file),
}));

/** What the files of an answer contain between them: what a reader looks for there. */
const decides: Readonly<Record<string, readonly RegExp[]>> = {
  'What happens on 410': [/\b410\b/, /'expired'/],
  'Where is back-off decided': [
    /retryPolicy|RetryPolicy/,
    /rateLimiter\.when\(/,
    /export function exponentialRateLimiter/,
  ],
  'What does `requeueAfterMs` do': [/requeueAfterMs/, /priority/],
  "How are a controller's own events kept": [/export function createOwnEvents/, /class OwnLinks/],
  'Where is strategic merge patch': [/export function strategicMerge/, /\$setElementOrder|setElementOrder/],
  'Who renews the lease': [/renewDeadlineMs/, /openUntil/],
};

describe('the six questions of ARCHITECTURE.md', () => {
  it('are six', () => expect(questions).toHaveLength(6));

  it.each(questions)('$question is answered by at most three files', ({ question, files }) => {
    expect(files.length).toBeGreaterThan(0);
    expect(files.length).toBeLessThanOrEqual(3);
    for (const file of files) expect(existsSync(join(root, file)), file).toBe(true);
    const [, patterns = []] = Object.entries(decides).find(([start]) => question.startsWith(start)) ?? [];
    expect(patterns, `no patterns for ${question}`).not.toEqual([]);
    const text = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
    for (const pattern of patterns) expect(pattern.test(text), `${question}: ${String(pattern)}`).toBe(true);
  });
});

it('every file and folder that ARCHITECTURE.md links to exists', () => {
  const targets = [...page.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
  expect(targets.filter((target) => !existsSync(join(root, target)))).toEqual([]);
});

it('grep 410 in the informer finds what decides', () => {
  const found = globSync('packages/informer/src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts'))
    .filter((file) => /\b410\b/.test(readFileSync(join(root, file), 'utf8')));
  const answer = questions.find(({ question }) => question.startsWith('What happens on 410'))?.files ?? [];
  expect(found.some((file) => answer.includes(file))).toBe(true);
  expect(found.length).toBeLessThanOrEqual(6);
});

it('a folder of sources holds at most 30 files that are not sorted into folders by concept', () => {
  const flat = globSync('packages/*/src', { cwd: root }).map((folder) => ({
    folder,
    files: globSync('*.ts', { cwd: join(root, folder) }).filter((file) => !file.endsWith('.test.ts')).length,
  }));
  expect(flat.filter(({ files }) => files > 30)).toEqual([]);
});
