// Colours of code by one theme with two colours for each scope, GitHub's light one and its dark one: VitePress reads the
// code once for each theme, which is a quarter of the time of the whole site.
import { bundledThemes, createHighlighter } from 'shiki';

const { default: light } = await bundledThemes['github-light']();
const { default: dark } = await bundledThemes['github-dark']();

/** Styles by their place, which stands for a colour. @type {string[]} */
const styles = [];

/** @param {string | undefined} ofLight @param {string | undefined} ofDark */
function paired(ofLight, ofDark) {
  const style = `--shiki-light:${ofLight};--shiki-dark:${ofDark}`
    .toUpperCase()
    .replaceAll(/--SHIKI-\w+/g, (name) => name.toLowerCase());
  if (!styles.includes(style)) styles.push(style);
  return `#${styles.indexOf(style).toString(16).padStart(6, '0')}`;
}

const theme = {
  name: 'github',
  type: /** @type {const} */ ('light'),
  colors: {
    'editor.foreground': paired(light.colors?.['editor.foreground'], dark.colors?.['editor.foreground']),
    'editor.background': '#ffffff',
  },
  tokenColors: (light.tokenColors ?? []).map(({ scope, settings: { foreground } }, index) => {
    const other = dark.tokenColors?.[index];
    if (JSON.stringify(other?.scope) !== JSON.stringify(scope))
      throw new Error('the themes github-light and github-dark have different scopes: give VitePress both');
    return {
      scope,
      settings: foreground === undefined ? {} : { foreground: paired(foreground, other?.settings.foreground) },
    };
  }),
};

const highlighter = await createHighlighter({
  themes: [theme],
  langs: ['dockerfile', 'go', 'json', 'sh', 'ts', 'yaml'],
});

/**
 * @param {string} code @param {string} language
 * @throws Error for a language that is not loaded
 */
export function highlight(code, language) {
  const lang = language === '' ? 'txt' : language;
  return highlighter
    .codeToHtml(code.trimEnd(), { lang, theme: theme.name })
    .replace(/^<pre [^>]*>/, '<pre class="shiki shiki-themes github-light github-dark vp-code" tabindex="0">')
    .replaceAll(/style="color:#(\w{6})"/g, (_style, place) => `style="${styles[Number.parseInt(place, 16)]}"`)
    .replaceAll('<span class="line"></span>', '<span class="line"><wbr></span>');
}
