// Pages as static markup. VitePress makes a Vue component of each page, and Vue's compiler parses the markup of 500 pages
// twice, for the browser and for the server, to find that nothing in it is dynamic. Here the markup becomes one static node
// as it is. The server's bundle has no index of the search, which only the browser reads.
import { withInstallTabs } from './install-tabs.mjs';

/** What VitePress makes of a page without scripts and styles of its own. */
const component =
  /^<script >(?<data>[\s\S]*?)\nexport default (?<head>\{name:"[^"]*"\})<\/script>\n<template>(?<html>[\s\S]*)<\/template>$/;

/**
 * The page as a module without a template. VitePress looks for `createStaticVNode("…", 1)` and leaves the text out for a
 * browser that has it already.
 * @param {string} code @param {string} id @param {string} base of the site
 */
export function staticPage(code, id, base) {
  const { data, head, html } = component.exec(code.trimEnd())?.groups ?? {};
  const dynamic =
    html === undefined ? 'a script or style' : /<\/?[A-Z]\w*|\s(?:v-(?!pre\b)|@|:)[\w-]+=/.exec(markupOf(html))?.[0];
  if (dynamic !== undefined)
    throw new Error(`${id}: pages are static, without Vue: remove ${dynamic}, or escape it if it is text`);
  const text = JSON.stringify(withBase(withoutDirectives(html ?? ''), base));
  return [
    "import { createStaticVNode } from 'vue';",
    data,
    `export default { ...${head}, render: () => createStaticVNode(${text}, 1) };`,
  ].join('\n');
}

/** The tags, without the text between them. @param {string} html */
const markupOf = (html) => (html.match(/<[^<>]*>/g) ?? []).map((tag) => tag.replaceAll(/"[^"]*"/g, '""')).join('');

/** `v-pre` was for Vue's compiler. @param {string} html */
const withoutDirectives = (html) => html.replaceAll(/(<[^<>]*?) v-pre(?:="")?(?=[ >])/g, '$1');

/** Links have the base already; Vue's compiler would add it to files of `docs/public`. @param {string} html @param {string} base */
const withBase = (html, base) => html.replaceAll(/(<img [^<>]*?src=")\/(?!\/)/g, `$1${base}`);

/** @returns {NonNullable<NonNullable<import('vitepress').UserConfig['vite']>['plugins']>} */
export function staticPages() {
  let base = '/';
  return [
    {
      name: 'kctl:small-server',
      enforce: 'pre',
      // It is read once and deleted: what is unused in it costs less than to find it.
      config: (_config, { isSsrBuild }) =>
        isSsrBuild === true ? { build: { rollupOptions: { treeshake: false } } } : undefined,
      load: (id, options) =>
        options?.ssr === true && id.startsWith('/@localSearchIndex') ? 'export default {};' : undefined,
    },
    {
      name: 'kctl:static-pages',
      configResolved(config) {
        base = config.base;
      },
      transform: (code, id) => (id.endsWith('.md') ? { code: staticPage(code, id, base), map: null } : undefined),
    },
  ];
}

/**
 * Renders a page once, for itself and for the search.
 * @param {import('vitepress').MarkdownRenderer} markdown
 */
export function renderOnce(markdown) {
  /** @type {Map<string, { source: string, html: string, env: Record<string, unknown> }>} */
  const rendered = new Map();
  const render = markdown.render.bind(markdown);
  markdown.render = (source, env = {}) => {
    const known = rendered.get(env.path);
    if (known?.source === source) {
      for (const [name, value] of Object.entries(known.env)) env[name] ??= value;
      return known.html;
    }
    const html = render(withInstallTabs(source), env);
    rendered.set(env.path, { source, html, env: { ...env } });
    return html;
  };
}
