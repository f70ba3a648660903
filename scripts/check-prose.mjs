// Refuses phrases that read translated in what users read: messages and TSDoc of the packages, documents, changesets.
// The style is that of the Kubernetes and Node documentation: present tense, standard verbs, data that is not a person.
// `--count` prints how often each phrase occurs. Proof: tooling/checks/test/prose.test.ts.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** @type {readonly { phrase: string, pattern: RegExp, instead: string }[]} */
export const phrases = [
  {
    phrase: 'nobody, somebody, whoever',
    pattern: /\b(?:nobody|somebody|whoever|anybody|everybody|whomever)\b/gi,
    instead: 'name the part: no handler, another replica, the caller',
  },
  { phrase: 'any more', pattern: /\bany ?more\b(?! than)/gi, instead: 'no longer' },
  {
    phrase: 'is no object',
    pattern:
      /(?<!\b(?:there|where|exists?) )\b(?:is|are|was|were) no (?!longer|more than|later|older|newer|earlier|larger|smaller|way|need\b|op\b)[a-z]+/gi,
    instead: 'is not a …',
  },
  {
    phrase: 'there is no object',
    // As a whole message: it does not say what lacks the object.
    pattern: /(?<=^['"`])there (?:is|are) no (?:object|kind)s?\b/gi,
    instead: 'what lacks it: the request has no object, the list of kinds is empty',
  },
  { phrase: 'hears', pattern: /\b(?:hears?|heard|hearing)\b/gi, instead: 'receives, is notified of' },
  {
    phrase: 'tells, is told',
    pattern: /\b(?:tells|told|telling|tell of)\b/gi,
    instead: 'reports, notifies, returns, shows; is stopped, is notified',
  },
  { phrase: 'knows', pattern: /\b(?:knows|knowing)\b/gi, instead: 'has, contains, detects, caches; known is fine' },
  { phrase: 'has not.', pattern: /\b(?:has|have|had) not(?=[.,;:)'"`]|$)/gim, instead: 'does not have' },
  { phrase: 'names no', pattern: /\bnames? no\b/gi, instead: 'has no …, does not name a …' },
  { phrase: 'for ever', pattern: /\bfor ever\b/gi, instead: 'forever, without limit' },
  { phrase: 'what is known', pattern: /\bwhat is known\b/gi, instead: 'the previous result, the cached state' },
  { phrase: 'left alone', pattern: /\b(?:is|are|was) left alone\b/gi, instead: 'is not changed' },
  {
    phrase: 'nothing waits for',
    pattern: /\b(?:nothing waits for|asks? about|asks? after)\b/gi,
    instead: 'optional; watches, reads',
  },
  { phrase: 'of its own accord', pattern: /\bof (?:its|their) own accord\b/gi, instead: 'by itself' },
  {
    phrase: 'archaic adverbs',
    pattern: /\b(?:whereupon|thereupon|hitherto|wherein|therein|thereof|whence|hence forth|in silence)\b/gi,
    instead: 'then, until now, in which; silently',
  },
  {
    phrase: 'one worker a key',
    pattern: /\b(?:one|two|three|a) [a-z]+ a (?:key|kind|object|namespace|handler|controller|process|replica)\b/gi,
    instead: 'one worker per key',
  },
  { phrase: 'end with a brace', pattern: /\bends? with a brace\b/gi, instead: 'malformed …: expected ]' },
];

/** The parts of a TypeScript file that users read: documentation comments and texts. @param {string} source */
export function publicText(source) {
  const token = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
  /** @type {{ text: string, index: number }[]} */
  const parts = [];
  for (const match of source.matchAll(token))
    if (!match[0].startsWith('//')) parts.push({ text: match[0].replace(/^\s*\* ?/gm, ' '), index: match.index });
  return parts;
}

/** @param {string} text @returns {{ phrase: string, instead: string, hit: string, index: number }[]} */
export function findings(text) {
  return phrases.flatMap(({ phrase, pattern, instead }) =>
    [...text.matchAll(pattern)].map((match) => ({ phrase, instead, hit: match[0], index: match.index })),
  );
}

const generated = /\/generated\/|CHANGELOG\.md$|\/extracted\//;
const notPublic = /\.test\.ts$|\/test\/|\/conformance\/|suite\.ts$/;

/** @param {string} folder @param {RegExp} name @returns {string[]} */
function filesIn(folder, name) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return /^(node_modules|dist|api|packages|\.cache)$/.test(entry.name) ? [] : filesIn(path, name);
    return name.test(entry.name) ? [path] : [];
  });
}

/** Everything whose words users read. */
export function publicFiles() {
  const inWorkspaces = ['packages', 'examples'].flatMap((folder) =>
    readdirSync(folder).flatMap((name) => [
      ...filesIn(join(folder, name, 'src'), /\.ts$/),
      join(folder, name, 'README.md'),
    ]),
  );
  const documents = readdirSync('.').filter((name) => name.endsWith('.md'));
  return [
    ...inWorkspaces,
    ...documents,
    ...['docs', 'designs', '.changeset'].flatMap((folder) => filesIn(folder, /\.md$/)),
  ].filter((file) => existsSync(file) && !generated.test(file) && !(file.endsWith('.ts') && notPublic.test(file)));
}

/** Link targets are file names, not prose. @param {string} markdown */
const withoutTargets = (markdown) => markdown.replace(/\]\([^)]*\)/g, (target) => ']'.padEnd(target.length));

/** @param {string} file @param {string} source @returns {{ file: string, line: number, phrase: string, instead: string, hit: string }[]} */
export function check(file, source) {
  const parts = file.endsWith('.ts') ? publicText(source) : [{ text: withoutTargets(source), index: 0 }];
  return parts.flatMap(({ text, index }) => {
    const firstLine = source.slice(0, index).split('\n').length;
    return findings(text).map(({ phrase, instead, hit, index: at }) => ({
      file,
      line: firstLine + text.slice(0, at).split('\n').length - 1,
      phrase,
      instead,
      hit: hit.trim(),
    }));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const files = publicFiles();
  const all = files.flatMap((file) => check(file, readFileSync(file, 'utf8')));
  if (process.argv.includes('--count'))
    for (const { phrase } of phrases)
      console.log(`${String(all.filter((found) => found.phrase === phrase).length).padStart(5)}  ${phrase}`);
  else
    for (const { file, line, hit, instead } of all)
      console.error(`${file}:${line}: ${JSON.stringify(hit)}: write ${instead}`);
  console.log(`${all.length} banned phrases in ${files.length} files`);
  process.exitCode = all.length === 0 ? 0 : 1;
}
