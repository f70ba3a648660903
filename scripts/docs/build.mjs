// `pnpm docs:build`: the site in docs/.vitepress/dist, with its checks. `--no-programs` leaves out running the programs,
// `--no-api` the API reference: for work on the pages.
import { rmSync } from 'node:fs';
import { step } from '../steps.mjs';
import { generate } from './generate.mjs';
import { checkLinks } from './links.mjs';
import { publishMarkdown } from './publish.mjs';
import { checkSearch } from './search.mjs';

const site = 'docs/.vitepress/dist';
/** Pages are many short-lived objects: with the usual young generation a quarter of the time is their collection. */
const youngObjects = '--max-semi-space-size=128';
const flags = new Set(process.argv.slice(2));

generate();
rmSync('docs/api', { recursive: true, force: true });
rmSync(site, { recursive: true, force: true });
const passed =
  (await step('docs: the port is counted', 'node', ['scripts/docs/port.mjs', '--check'])) &&
  (await step('docs: the recording is of the transcript', 'node', ['scripts/docs/recording.mjs', '--check'])) &&
  (await step('docs: code blocks compile', 'node', ['scripts/check-snippets.mjs'])) &&
  (flags.has('--no-programs') || (await step('docs: programs run', 'node', ['scripts/docs/programs.mjs']))) &&
  (flags.has('--no-api') || (await step('docs: API reference', 'node', [youngObjects, 'scripts/docs/api.mjs']))) &&
  (await step('docs: site', 'node', [youngObjects, 'docs/node_modules/vitepress/bin/vitepress.js', 'build', 'docs']));
if (passed) {
  const pages = publishMarkdown(site);
  const { links, dead } = checkLinks(site);
  const notFound = checkSearch(site);
  for (const problem of [...dead, ...notFound]) console.error(problem);
  console.log(`${pages} pages, ${links} links, ${dead.length} dead: ${site}`);
  if (dead.length + notFound.length > 0) process.exitCode = 1;
} else process.exitCode = 1;
