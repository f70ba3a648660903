// Puts beside the built site what assistants read: every page as Markdown (/guides/rbac.md), llms.txt with the list of
// them, llms-full.txt with all hand-written pages in one.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sections } from '../../docs/.vitepress/pages.mjs';

/** @param {string} text */
const withoutFrontMatter = (text) => text.replace(/^---\n[\s\S]*?\n---\n+/, '');

/** Links between pages lead to the Markdown copies. @param {string} text */
const markdownLinks = (text) => text.replace(/\]\((\/(?!api\/)[a-z][\w/-]*)(#[\w-]+)?\)/g, ']($1.md$2)');

/** The first paragraph after the title, as plain text. @param {string} page */
export function summaryOf(page) {
  const paragraph = page
    .split('\n\n')
    .map((part) => part.trim())
    .find((part) => part !== '' && !/^(#|```|\[API reference\]|\||!|<|:::|---)/.test(part));
  const text = (paragraph ?? '')
    .replaceAll('\n', ' ')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*`]/g, '');
  return /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text;
}

/** @param {string} folder @param {string} [under] @returns {string[]} */
const pagesIn = (folder, under = '') =>
  readdirSync(join(folder, under), { withFileTypes: true }).flatMap((entry) => {
    const path = under === '' ? entry.name : `${under}/${entry.name}`;
    if (entry.isDirectory()) return /^(\.|node_modules|public)/.test(entry.name) ? [] : pagesIn(folder, path);
    return entry.name.endsWith('.md') ? [path] : [];
  });

/** @param {string} target the built site @returns {number} the number of pages that were copied */
export function publishMarkdown(target) {
  const pages = pagesIn('docs');
  for (const page of pages) {
    const file = join(target, page);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, markdownLinks(withoutFrontMatter(readFileSync(join('docs', page), 'utf8'))));
  }
  const list = [
    '# kctl',
    '',
    '> Kubernetes controllers for TypeScript on Node.js: what controller-runtime and client-go are for Go, as packages that are installed one by one. `@kctl/runtime` is the full stack behind one import.',
    '',
    'Kinds are values (`defineKind<Foo>()({ … })`, `@kctl/apimachinery/kinds/core/v1`), durations end in `Ms`, everything that waits takes an AbortSignal, objects from the cache are readonly, and `createEnvironment()` of `@kctl/testing` starts an API server inside the test.',
  ];
  const whole = [];
  for (const { text, items } of sections) {
    list.push('', `## ${text}`, '');
    for (const { text: title, link } of items) {
      const page = withoutFrontMatter(readFileSync(join('docs', `${link.slice(1)}.md`), 'utf8'));
      list.push(`- [${title}](${link}.md): ${summaryOf(page)}`);
      if (text !== 'Packages') whole.push(markdownLinks(page));
    }
  }
  writeFileSync(join(target, 'llms.txt'), `${list.join('\n')}\n`);
  writeFileSync(join(target, 'llms-full.txt'), whole.join('\n\n---\n\n'));
  return pages.length;
}
