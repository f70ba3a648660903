import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { inlinePictures } from './pictures.mjs';
import { repository, sections } from './pages.mjs';

/** TypeDoc's pages; absent while only the hand-written pages are being worked on. */
const folderOfApi = join(import.meta.dirname, '..', 'api');
const api = existsSync(folderOfApi)
  ? readdirSync(folderOfApi, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md') && file !== 'index.md')
      .map((file) => file.slice(0, -'.md'.length).replaceAll('\\', '/'))
      .sort()
      .map((name) => ({ text: `@kctl/${name}`, link: `/api/${name}` }))
  : [];
const reference = { text: 'API reference', collapsed: true, items: [{ text: 'All modules', link: '/api/' }, ...api] };

export default defineConfig({
  title: 'kctl',
  description: 'Kubernetes controllers for TypeScript: what controller-runtime and client-go are for Go.',
  base: process.env.DOCS_BASE ?? '/',
  cleanUrls: true,
  srcExclude: ['node_modules/**'],
  ignoreDeadLinks: false,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${process.env.DOCS_BASE ?? '/'}icon.svg` }]],
  markdown: { config: inlinePictures },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'First operator', link: '/first-operator' },
      { text: 'Guides', link: '/guides/own-resources', activeMatch: '^/guides/' },
      { text: 'Packages', link: '/packages/runtime', activeMatch: '^/packages/' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
    ],
    sidebar: [...sections, ...(api.length > 0 ? [reference] : [])],
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: { miniSearch: { searchOptions: { boost: { title: 4, titles: 2, text: 1 } } } },
    },
    socialLinks: [{ icon: 'github', link: repository }],
    footer: { message: 'Apache-2.0' },
  },
});
