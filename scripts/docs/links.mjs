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
  /** @type {Map<string, Set<string>>} */
  const anchors = new Map();
  const files = htmlFiles(site);
  for (const file of files)
    anchors.set(
      file,
      new Set([...readFileSync(file, 'utf8').matchAll(/\sid="([^"]+)"/g)].map((match) => decode(match[1] ?? ''))),
    );
  /** @type {Set<string>} */
  const dead = new Set();
  let links = 0;
  for (const file of files) {
    const here = `/${posix.relative(site, file)}`;
    for (const [, raw = ''] of readFileSync(file, 'utf8').matchAll(/<a\s[^>]*?href="([^"]*)"/g)) {
      const href = decode(raw);
      links++;
      const inRepository = new RegExp(`^${repository}/(?:blob|tree)/main/([^#]+)`).exec(href)?.[1];
      if (inRepository !== undefined && !existsSync(join(root, decodeURIComponent(inRepository))))
        dead.add(`${here}: ${href}: no such file in the repository`);
      if (/^[a-z]+:/.test(href)) continue;
      const { pathname, hash } = new URL(href, `http://site${here}`);
      const target = pageOf(site, pathname);
      if (target === undefined) dead.add(`${here}: ${href}: no such page`);
      else if (hash !== '' && anchors.has(target) && !anchors.get(target)?.has(decodeURIComponent(hash.slice(1))))
        dead.add(`${here}: ${href}: no such heading`);
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
