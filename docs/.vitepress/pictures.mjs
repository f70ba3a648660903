// Puts the pictures of docs/public/pictures into the page itself, so that they take the page's colours in both themes.
// On GitHub, and in the Markdown copies, the same files are plain images that follow the reader's system.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..', 'public', 'pictures');

/** @param {import('vitepress').MarkdownRenderer} markdown */
export function inlinePictures(markdown) {
  const image = markdown.renderer.rules.image;
  markdown.renderer.rules.image = (tokens, index, ...rest) => {
    const token = tokens[index];
    const file = /(?:^|\/)pictures\/([\w-]+\.svg)$/.exec(token?.attrGet('src') ?? '')?.[1];
    if (token === undefined || file === undefined || image === undefined) return image?.(tokens, index, ...rest) ?? '';
    const label = markdown.utils.escapeHtml(token.content);
    return readFileSync(join(folder, file), 'utf8')
      .replace(/<\?xml[^>]*>\s*/, '')
      .replace(/<style>[\s\S]*?<\/style>\s*/, '')
      .replace('<svg ', `<svg class="picture" role="img" aria-label="${label}" tabindex="0" `)
      .replace(/\n\s*/g, ' ');
  };
}
