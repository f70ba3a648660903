// The page of the inspection as one HTML file: script and style are bundled and put into it.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = new URL('../page/', import.meta.url);
/** The page must stay small: it goes through port-forwards, and into every image. */
const maxBytes = 150 * 1024;

/** @returns {Promise<string>} */
export async function buildPage() {
  const bundle = async (/** @type {string} */ file) => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL(file, folder))],
      bundle: true,
      minify: true,
      write: false,
      format: 'iife',
      target: 'es2022',
      platform: 'browser',
      legalComments: 'none',
    });
    return outputFiles[0]?.text.trim() ?? '';
  };
  const [script, style] = await Promise.all([bundle('main.ts'), bundle('page.css')]);
  const html = readFileSync(new URL('page.html', folder), 'utf8')
    .trim()
    .replace('{{style}}', () => style)
    .replace('{{script}}', () => script);
  if (Buffer.byteLength(html) > maxBytes)
    throw new Error(`the page has ${Buffer.byteLength(html)} bytes: at most ${maxBytes}`);
  return html;
}

/** Puts the page into the module that has it. @type {import('esbuild').Plugin} */
export const inlinePage = {
  name: 'inline-page',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]page-source\.ts$/ }, async () => ({
      contents: `export const pageSource = ${JSON.stringify(await buildPage())};`,
      loader: 'js',
    }));
  },
};
