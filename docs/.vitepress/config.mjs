import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { defineConfig } from 'vitepress';
import { highlight } from './highlight.mjs';
import { inlinePictures } from './pictures.mjs';
import { repository, sections } from './pages.mjs';
import { search } from './search.mjs';
import { renderOnce, staticPages } from './static-pages.mjs';

/** The modules of the API reference; none while only the hand-written pages are being worked on. */
const folderOfApi = join(import.meta.dirname, '..', 'api');
const modules = existsSync(folderOfApi)
  ? readdirSync(folderOfApi, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith(`${sep}index.md`))
      .map((file) => dirname(file).replaceAll('\\', '/'))
      .sort()
      .map((name) => ({ text: `@kctl/${name}`, link: `/api/${name}/` }))
  : [];
const reference = [{ text: 'API reference', items: [{ text: 'All modules', link: '/api/' }, ...modules] }];

export default defineConfig({
  title: 'kctl',
  description: 'Kubernetes controllers for TypeScript: what controller-runtime and client-go are for Go.',
  base: process.env.DOCS_BASE ?? '/',
  cleanUrls: true,
  srcExclude: ['node_modules/**'],
  ignoreDeadLinks: false,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${process.env.DOCS_BASE ?? '/'}icon.svg` }]],
  // In a file of its own, not in each page: half of the bytes of the site.
  metaChunk: true,
  vue: { include: [/\.vue$/] },
  vite: { plugins: staticPages() },
  markdown: {
    highlight,
    config(markdown) {
      inlinePictures(markdown);
      renderOnce(markdown);
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'First operator', link: '/first-operator' },
      { text: 'Guides', link: '/guides/own-resources', activeMatch: '^/guides/' },
      { text: 'Packages', link: '/packages/runtime', activeMatch: '^/packages/' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
    ],
    // Each with its own: a page of the other would carry some hundred links that nobody follows.
    sidebar: { '/api/': reference, '/': sections },
    outline: { level: [2, 3] },
    search,
    socialLinks: [{ icon: 'github', link: repository }],
    footer: { message: 'Apache-2.0' },
  },
});
