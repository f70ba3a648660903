// Measures how often comments, messages, READMEs and pages use a phrase that reads translated, per 1,000 words, and fails
// when a rate is above its limit. The limits are about twice the rates of the comments of client-go and controller-runtime.
// `--where <n>` lists the places of habit n. Proof: tooling/checks/test/prose.test.ts.
import { globSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** @typedef {'comments' | 'messages' | 'READMEs' | 'pages'} Corpus */
/** @typedef {{ file: string, line: number, words: string }} Passage */

/** @type {readonly { habit: string, instead: string, limit: number, pattern: RegExp, notIn?: Corpus }[]} */
export const habits = [
  {
    habit: 'a sentence that begins with "What"',
    instead: 'a noun or a verb',
    limit: 0.3,
    pattern: /(?:^|[.!?]\s+)What\b(?![^.?!]*\?)/gm,
  },
  { habit: 'where, for a condition', instead: 'if, when', limit: 1.2, pattern: /\bwhere\b/gi },
  { habit: 'says, of data', instead: 'reports, states, has', limit: 0.3, pattern: /\b(?:says?|said)\b/gi },
  { habit: 'asks, of a program', instead: 'requests, queries, checks', limit: 0.4, pattern: /\bask(?:s|ed)?\b/gi },
  { habit: 'text, for a string', instead: 'string, JSON, message', limit: 0.4, pattern: /\btexts?\b/gi },
  {
    habit: 'judge, hear, tell',
    instead: 'decide, receive, notify, distinguish',
    limit: 0.3,
    pattern: /\b(?:judges?d?|hears?|heard|told|tells?)\b/gi,
  },
  {
    habit: 'nobody, somebody, whoever',
    instead: 'the part: no handler, another replica, the caller',
    limit: 0.05,
    pattern: /\b(?:nobody|somebody|whoever|anybody|everybody)\b/gi,
  },
  {
    habit: 'any more, is none, of its own',
    instead: 'no longer, is not a, separate',
    limit: 0.2,
    pattern: /\b(?:any more|is none|are none|of its own|of their own)\b/gi,
  },
  {
    habit: 'clauses joined by a colon',
    instead: 'two sentences, because, so',
    limit: 3.5,
    pattern: /[a-z)`]: [a-z]/g,
    // The cause of an error follows a colon.
    notIn: 'messages',
  },
];

const isProse = (/** @type {string} */ words) => /[a-z]{2,} [a-z]{2,}/i.test(words);

/** Code in a comment or a document is not prose. @param {string} words */
const withoutCode = (words) =>
  words
    .replaceAll(/```[\s\S]*?```/g, (code) => code.replaceAll(/[^\n]/g, ' '))
    .replaceAll(/`[^`\n]*`|\{@link [^}]*\}|\]\([^)\n]*\)/g, 'X');

/** The comments of a source, adjoining line comments as one. @param {string} file @param {string} source @returns {Passage[]} */
export function commentsIn(file, source) {
  const token =
    /\/\*[\s\S]*?\*\/|(?:\/\/[^\n]*(?:\n[ \t]*(?=\/\/))?)+|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
  return [...source.matchAll(token)]
    .filter(([text]) => text.startsWith('/'))
    .map(({ 0: text, index }) => ({
      file,
      line: source.slice(0, index).split('\n').length,
      words: withoutCode(text.replaceAll(/^\s*(?:\/\*+|\*\/|\*|\/\/) ?|\*\/$/gm, '')),
    }))
    .filter(({ words }) => isProse(words));
}

/** The first arguments of errors and logs. @param {string} file @param {string} source @returns {Passage[]} */
export function messagesIn(file, source) {
  const call = /(?:new \w*Error\(|\b(?:info|warn|error|debug)\()\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g;
  return [...source.matchAll(call)]
    .map(({ 2: words = '', index }) => ({
      file,
      line: source.slice(0, index).split('\n').length,
      words: words.replaceAll(/\$\{[^}]*\}/g, 'X'),
    }))
    .filter(({ words }) => isProse(words));
}

/** @param {string} file @param {string} source @returns {Passage[]} */
const documentIn = (file, source) => [{ file, line: 1, words: withoutCode(source).replaceAll(/^\s*\|.*$/gm, '') }];

/** @param {readonly Passage[]} passages @param {Corpus} corpus */
export function ratesOf(passages, corpus) {
  const all = passages.map(({ words }) => words).join('\n\n');
  const count = all.split(/\s+/).filter((word) => /[a-z]/i.test(word)).length;
  return {
    words: count,
    rates: habits.map(({ pattern, notIn }) =>
      notIn === corpus || count === 0 ? 0 : ((all.match(pattern)?.length ?? 0) * 1000) / count,
    ),
  };
}

/** @returns {Record<Corpus, Passage[]>} */
function corpora() {
  const read = (/** @type {string} */ file) => readFileSync(file, 'utf8');
  const files = (/** @type {string[]} */ ...globs) =>
    globSync(globs).filter((file) => !/node_modules|\/api\//.test(file));
  const sources = files('packages/*/src/**/*.ts').filter(
    (file) => !/\.test\.ts$|\/generated\/|\/conformance\//.test(file),
  );
  const readmes = files(
    'README.md',
    'packages/*/README.md',
    'examples/*/README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
  );
  return {
    comments: sources.flatMap((file) => commentsIn(file, read(file))),
    messages: sources.flatMap((file) => messagesIn(file, read(file))),
    READMEs: readmes.flatMap((file) => documentIn(file, read(file))),
    pages: files('docs/**/*.md').flatMap((file) => documentIn(file, read(file))),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const names = /** @type {const} */ (['comments', 'messages', 'READMEs', 'pages']);
  const found = corpora();
  const chosen = habits[Number(process.argv[process.argv.indexOf('--where') + 1]) - 1];
  if (process.argv.includes('--where') && chosen !== undefined) {
    for (const { file, line, words } of names.flatMap((name) => (chosen.notIn === name ? [] : found[name])))
      for (const { 0: hit, index } of words.matchAll(chosen.pattern)) {
        const at = line + words.slice(0, index).split('\n').length - 1;
        console.log(`${file}:${at}: ${JSON.stringify(hit.trim())}, write ${chosen.instead}`);
      }
  } else {
    const measured = names.map((name) => ratesOf(found[name], name));
    console.log(
      ['per 1,000 words', ...names.map((name, index) => `${name} (${measured[index]?.words})`), 'limit'].join('  '),
    );
    for (const [index, { habit, limit }] of habits.entries()) {
      const rates = measured.map(({ rates: all }) => all[index] ?? 0);
      if (rates.some((rate) => rate > limit)) process.exitCode = 1;
      const shown = rates.map((rate) => `${rate.toFixed(2)}${rate > limit ? ' !' : ''}`.padStart(8));
      console.log(`${index + 1} ${habit.padEnd(36)}${shown.join('')}${String(limit).padStart(8)}`);
    }
  }
}
