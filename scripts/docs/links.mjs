// Checks the links of the built site: pages and files that are there, anchors that exist, and, for links into the
// repository, files of this checkout.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { repository } from '../../docs/.vitepress/pages.mjs';

/** @param {string} folder @returns {string[]} */
const htmlFiles = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return htmlFiles(path);
    return entry.name.endsWith('.html') ? [path] : [];
  });

const decode = (/** @type {string} */ text) =>
  text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"');

/** @param {string} site @param {string} [root] @returns {{ links: number, dead: string[] }} */
export function checkLinks(site, root = '.') {
  const pages = new Map(htmlFiles(site).map((file) => [file, readFileSync(file, 'utf8')]));
  const anchors = new Map(
    [...pages].map(([file, text]) => [
      file,
      new Set([...text.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => decode(id))),
    ]),
  );
  const ofRepository = new RegExp(`^${repository}/(?:blob|tree)/main/([^#]+)`);
  const problemOf = (/** @type {string} */ href, /** @type {string} */ here) => {
    const inRepository = ofRepository.exec(href)?.[1];
    if (inRepository !== undefined && !existsSync(join(root, decodeURIComponent(inRepository))))
      return 'no such file in the repository';
    if (/^[a-z]+:/.test(href)) return undefined;
    const { pathname, hash } = new URL(href, `http://site${here}`);
    const target = pageOf(site, pathname);
    if (target === undefined) return 'no such page';
    const isThere = hash === '' || (anchors.get(target)?.has(decodeURIComponent(hash.slice(1))) ?? true);
    return isThere ? undefined : 'no such heading';
  };
  /** Of links that mean the same on each page, such as those of the side bar. @type {Map<string, string | undefined>} */
  const known = new Map();
  /** @type {Set<string>} */
  const dead = new Set();
  let links = 0;
  for (const [file, text] of pages) {
    const here = `/${posix.relative(site, file)}`;
    for (const [, raw = ''] of text.matchAll(/<a\s[^>]*?href="([^"]*)"/g)) {
      const href = decode(raw);
      links++;
      const isAbsolute = /^(?:\/|[a-z]+:)/.test(href);
      const problem = isAbsolute && known.has(href) ? known.get(href) : problemOf(href, here);
      if (isAbsolute) known.set(href, problem);
      if (problem !== undefined) dead.add(`${here}: ${href}: ${problem}`);
    }
  }
  return { links, dead: [...dead] };
}

/** @param {string} site @param {string} pathname @returns {string | undefined} */
function pageOf(site, pathname) {
  const path = join(site, decodeURIComponent(pathname));
  const isFile = (/** @type {string} */ file) => existsSync(file) && statSync(file).isFile();
  return [path, `${path}.html`, join(path, 'index.html')].find(isFile);
}
