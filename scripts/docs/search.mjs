// What a reader types into the search of the built site, and the page that comes first. Runs the index of the site with
// the options that the site gives it: `node scripts/docs/search.mjs [words]`.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { search } from '../../docs/.vitepress/search.mjs';

const vitepress = createRequire(new URL('../../docs/package.json', import.meta.url)).resolve('vitepress');
const { default: MiniSearch } = await import(pathToFileURL(createRequire(vitepress).resolve('minisearch')).href);

/** What is looked for, and the guide that answers. */
export const expectedPages = {
  finalizer: '/guides/finalizers',
  scaffold: '/guides/kctl',
  grafana: '/guides/metrics-and-alerts',
  pagination: '/recipes/objects',
  retry: '/recipes/queues',
  webhook: '/guides/webhooks',
  leader: '/concepts/leadership',
  rbac: '/guides/rbac',
  status: '/guides/status-and-conditions',
  conversion: '/guides/conversion',
  simulation: '/guides/simulation',
};

/** @param {string} site @returns {(words: string) => { id: string, title: string }[]} */
export function openSearch(site) {
  const chunks = join(site, 'assets', 'chunks');
  const file = readdirSync(chunks).find((name) => name.startsWith('@localSearchIndexroot'));
  if (file === undefined) throw new Error(`${chunks} has no index of the search`);
  const text = readFileSync(join(chunks, file), 'utf8');
  const [, quoted = ''] = /^const \w+ ?= ?(['"`].*['"`]);\s*export/s.exec(text) ?? [];
  const json = /** @type {string} */ (new Function(`return ${quoted}`)());
  // As VPLocalSearchBox of VitePress opens it.
  const index = MiniSearch.loadJSON(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions: {
      fuzzy: 0.2,
      prefix: true,
      boost: { title: 4, text: 2, titles: 1 },
      ...search.options.miniSearch.searchOptions,
    },
  });
  return (words) => index.search(words).slice(0, 16);
}

/** @param {string} site @returns {string[]} what is not found first */
export function checkSearch(site) {
  const find = openSearch(site);
  const wrong = Object.entries(expectedPages).flatMap(([words, page]) => {
    const found = find(words).map(({ id }) => id);
    return found[0]?.split('#')[0] === page
      ? []
      : [`search: ${words}: found ${found.slice(0, 3).join(', ')}: expected ${page} first`];
  });
  const headings = ['Properties', 'Parameters', 'Returns'];
  const noise = headings.filter((heading) =>
    find(heading).some(({ id, title }) => title === heading && id.includes('/api/')),
  );
  return [...wrong, ...noise.map((heading) => `search: the headings ${heading} of the API reference are in the index`)];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [words] = process.argv.slice(2);
  const site = 'docs/.vitepress/dist';
  if (words !== undefined) for (const { id, title } of openSearch(site)(words)) console.log(id, '—', title);
  else {
    const problems = checkSearch(site);
    for (const problem of problems) console.error(problem);
    process.exitCode = problems.length === 0 ? 0 : 1;
  }
}
