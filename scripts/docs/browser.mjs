// `pnpm docs:browser`: opens the built site in a real headless browser, on three widths, in light and dark, and works it by
// keyboard. Pages of the API reference are opened once, for their length. Screenshots are left in .cache/screenshots. CHROMIUM names the browser, which apt, dnf or brew
// install; the site must have been built (`pnpm docs:build`).
import { createReadStream, existsSync, globSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { createChecks, emptyFolder, openBrowser, requireBrowser } from '../browser/open-browser.mjs';
import { sections } from '../../docs/.vitepress/pages.mjs';
import { expectedPages } from './search.mjs';

const site = 'docs/.vitepress/dist';
const screenshots = '.cache/screenshots';

const types = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

/** The built site as a web server serves it: `/guides/rbac` is `guides/rbac.html`. */
function serve() {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://site').pathname);
    const file = [join(site, path), join(site, `${path}.html`), join(site, path, 'index.html')].find(
      (candidate) => existsSync(candidate) && statSync(candidate).isFile(),
    );
    const found = file ?? join(site, '404.html');
    response.writeHead(file === undefined ? 404 : 200, {
      'content-type': types[/** @type {keyof typeof types} */ (extname(found))] ?? 'text/plain; charset=utf-8',
    });
    createReadStream(found).pipe(response);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

requireBrowser(join(site, 'index.html'), 'pnpm docs:build');
emptyFolder(screenshots);
const checks = createChecks();
const { expect } = checks;

const server = await serve();
const base = `http://127.0.0.1:${server.address().port}`;
const browser = await openBrowser();
const forms = [
  { name: 'desktop', viewport: { width: 1440, height: 900 } },
  { name: 'tablet', viewport: { width: 820, height: 1180 } },
  { name: 'phone', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
];
const links = ['/', ...sections.flatMap(({ items }) => items.map(({ link }) => link)), '/api/', '/api/workqueue/'];
const pictured = [
  '/',
  '/first-operator',
  '/concepts/path-of-an-event',
  '/concepts/leadership',
  '/performance',
  '/comparison',
];

/** Every page of the API reference. */
const reference = globSync('api/**/*.html', { cwd: site }).map((file) => `/${file.replace(/(index)?\.html$/, '')}`);
const longestPage = 10_000;

/** Tables of which a reader cannot see a part: wider than the page, and not to be scrolled. Runs in the page. */
const cutTables = () =>
  [...document.querySelectorAll('.vp-doc table')].flatMap((table) => {
    const isScrolled = ['auto', 'scroll'].includes(getComputedStyle(table).overflowX);
    const { left, right } = table.getBoundingClientRect();
    const isInside = left >= 0 && right <= innerWidth + 1;
    return isInside && (isScrolled || table.scrollWidth <= table.clientWidth + 1)
      ? []
      : [table.querySelector('th')?.textContent ?? 'a table'];
  });

/** Contrast of the text of an element against what is behind it, by WCAG. Runs in the page. */
const lowContrast = () => {
  const parse = (/** @type {string} */ text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (/** @type {number[]} */ [r = 0, g = 0, b = 0]) => {
    const [x = 0, y = 0, z = 0] = [r, g, b].map((value) =>
      value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (/** @type {Element | null} */ element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a > 0.9 && r !== undefined) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll(
    '.vp-doc p, .vp-doc li, .vp-doc td, .vp-doc h1, .vp-doc h2, svg.picture text',
  )) {
    const style = getComputedStyle(element);
    const isPicture = element.tagName === 'text';
    const ink = luminance(parse(isPicture ? style.fill : style.color));
    // Pictures' letters stand on their boxes, which are near the paper; the paper is the page.
    const paper = luminance(behind(element));
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (ratio < 4.5) found.push(`${element.textContent?.trim().slice(0, 40)} ${ratio.toFixed(1)}`);
  }
  return found;
};

try {
  for (const { name, ...options } of forms) {
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      const context = await browser.newContext({ ...options, colorScheme, reducedMotion: 'reduce' });
      const page = await context.newPage();
      /** @type {string[]} */
      const errors = [];
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
      page.on('pageerror', (error) => errors.push(error.message));
      // A prefetch that the next page cuts short does not count.
      page.on('requestfailed', (request) => {
        if (request.failure()?.errorText !== 'net::ERR_ABORTED') errors.push(`${request.url()} failed`);
      });
      page.on('request', (request) => {
        if (!request.url().startsWith(base) && !request.url().startsWith('data:'))
          errors.push(`foreign request ${request.url()}`);
      });
      for (const link of links) {
        const where = `${name} ${colorScheme} ${link}`;
        const response = await page.goto(base + link, { waitUntil: 'load' });
        expect(`${where} is served`, response?.status() === 200, response?.status());
        expect(`${where} has one title`, (await page.locator('h1').count()) === 1, await page.locator('h1').count());
        const [wide, width] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        expect(`${where} is not wider than the screen`, wide <= width, `${wide} > ${width}`);
        const cut = await page.evaluate(cutTables);
        expect(`${where} shows its tables whole`, cut.length === 0, cut.join('; '));
        const isDark = await page.evaluate(() => document.documentElement.classList.contains('dark'));
        expect(`${where} follows the colour scheme`, isDark === (colorScheme === 'dark'));
        if (!link.startsWith('/api') && !link.startsWith('/packages')) {
          const low = await page.evaluate(lowContrast);
          expect(`${where} is readable`, low.length === 0, low.slice(0, 3).join('; '));
        }
        if (pictured.includes(link)) {
          const file = `${name}-${colorScheme}-${link === '/' ? 'home' : link.slice(1).replaceAll('/', '-')}.png`;
          await page.screenshot({ path: join(screenshots, file) });
          const picture = page.locator('svg.picture').first();
          if ((await picture.count()) > 0) {
            await picture.scrollIntoViewIfNeeded();
            await picture.screenshot({ path: join(screenshots, `picture-${file}`) });
          }
        }
        expect(`${where} has no error in the console`, errors.length === 0, errors.splice(0).join('; '));
      }
      await context.close();
    }
  }

  const long = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  for (const link of reference) {
    await long.goto(base + link, { waitUntil: 'domcontentloaded' });
    const height = await long.evaluate(() => document.documentElement.scrollHeight);
    expect(`${link} is at most ${longestPage} pixels long`, height <= longestPage, height);
    const cut = await long.evaluate(cutTables);
    expect(`${link} shows its tables whole`, cut.length === 0, cut.join('; '));
  }
  await long.close();

  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(base, { waitUntil: 'networkidle' });
  await page.keyboard.press('Tab');
  expect(
    'the first stop of Tab is the link to the content',
    (await page.evaluate(() => document.activeElement?.textContent))?.includes('Skip to content') === true,
  );
  await page.keyboard.press('Enter');
  const input = page.locator('.VPLocalSearchBox input');
  const openSearch = async () => {
    for (let tries = 0; tries < 80 && !(await input.isVisible()); tries++) {
      await page.keyboard.press('Control+k'); // works once the page is hydrated
      await page.waitForTimeout(250);
    }
    await input.waitFor();
  };
  await openSearch();
  await page.keyboard.type('requeueAfterMs');
  await page.locator('.VPLocalSearchBox .result').first().waitFor();
  await page.screenshot({ path: join(screenshots, 'search.png') });
  expect('the search finds pages', (await page.locator('.VPLocalSearchBox .result').count()) > 2);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.pathname !== '/');
  expect('Enter opens a result', new URL(page.url()).pathname !== '/', page.url());
  for (const [words, link] of Object.entries(expectedPages)) {
    await page.goto(`${base}/why`);
    await openSearch();
    await input.fill(words);
    const first = page.locator('.VPLocalSearchBox .result').first();
    await first.waitFor();
    const href = (await first.getAttribute('href')) ?? '';
    expect(`the search for ${words} finds ${link} first`, href.split('#')[0] === link, href);
  }
  await page.goto(`${base}/guides/rbac`);
  const stops = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(() => {
      const active = document.activeElement;
      const style = active === null ? undefined : getComputedStyle(active);
      return {
        text: active?.textContent?.trim().slice(0, 30) ?? '',
        outline: style?.outlineStyle !== 'none' || style?.boxShadow !== 'none',
      };
    });
    stops.push(stop);
  }
  expect(
    'Tab reaches the side bar',
    stops.some(({ text }) => text === 'Write webhooks'),
    stops.map(({ text }) => text).join(' | '),
  );
  expect(
    'a focused link shows it',
    stops.filter(({ outline }) => outline).length > stops.length * 0.8,
    stops
      .filter(({ outline }) => !outline)
      .map(({ text }) => text)
      .join(' | '),
  );

  const phone = await browser.newPage({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  await phone.goto(`${base}/guides/rbac`);
  await phone.locator('.VPLocalNav .menu').tap();
  await phone.locator('.VPSidebar').getByText('Write webhooks').tap();
  await phone.waitForURL('**/guides/webhooks');
  await phone.screenshot({ path: join(screenshots, 'phone-menu.png') });
  expect('the menu of a phone leads to a page', phone.url().endsWith('/guides/webhooks'), phone.url());
  const before = await phone.evaluate(() => document.querySelector('svg.picture, .vp-doc')?.clientWidth ?? 0);
  expect('the text of a phone fits', before <= 390, before);
} finally {
  await browser.close();
  server.close();
  server.closeAllConnections();
}
console.log(`${checks.passed} checks passed, ${checks.failed} failed; screenshots in ${screenshots}`);
process.exitCode = checks.failed === 0 ? 0 : 1;
