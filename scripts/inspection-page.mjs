// `pnpm inspection:browser`: opens the page of @kctl/inspection in a real headless browser, in light and dark, and works it by
// keyboard, with ten thousand keys. CHROMIUM names the browser, which apt, dnf or brew install; the package must have
// been built. Screenshots are left in .cache/screenshots/inspection.
// `--docs` writes those of the documentation, too.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createChecks, emptyFolder, openBrowser, requireBrowser } from './browser/open-browser.mjs';

const built = resolve('packages/inspection/dist/index.js');
const screenshots = '.cache/screenshots/inspection';
requireBrowser(built, 'pnpm turbo run build --filter=@kctl/inspection');
const { createInspection } = await import(pathToFileURL(built).href);
emptyFolder(screenshots);
/** Views of the documentation, and how much of each is shown, in pixels. */
const pictures = process.argv.includes('--docs')
  ? new Map([
      ['overview', 430],
      ['keys', 420],
      ['key', 310],
    ])
  : new Map();
const checks = createChecks();
const { expect } = checks;

const inspection = createInspection({ budgetBytes: 64 * 1024 * 1024 });
const { observer } = inspection;
const widgets = 'kind source: Widget.example.com';

/** As a reconciler of a project throws it. */
const failure = new RangeError('7 is too many');
failure.stack = `${failure}\n    at reconcile (file:///app/src/controllers/widget.ts:42:11)`;

/** Records an event and the run that it leads to. @param {string} key @param {unknown} [error] */
function run(key, error) {
  const cause = { source: widgets, type: 'update', name: key, header: { resourceVersion: '7' } };
  observer.queued('widgets', key, { reason: `${widgets} update ${key}`, cause });
  const tally = observer.started('widgets', key, { attempt: 1, reasons: [], reconcileId: `id-of-${key}` });
  const result = error === undefined ? 'success' : 'error';
  observer.settled(tally, { result, error, nextMs: error === undefined ? undefined : 60_000, isLooping: false });
}

const count = 10_000;
for (let index = 0; index < count; index++) run(`shop/widget-${String(index).padStart(5, '0')}`);
run('shop/broken', failure);

const controller = {
  name: 'widgets',
  phase: 'active',
  queueLength: 0,
  maxConcurrentReconciles: 1,
  inFlight: [],
  sources: () => [{ name: 'kind source: Widget.example.com', kind: 'Widget', phase: 'active', isRequired: true }],
  accessNeeds: () => [],
};
inspection.attach({ controllers: () => [controller], clusters: () => [], accessNeeds: () => [], isLeader: true });

const stop = new AbortController();
/** @type {PromiseWithResolvers<string>} */
const listening = Promise.withResolvers();
const serving = inspection
  .server({ port: 0, onListening: ({ host, port }) => listening.resolve(`http://${host}:${port}/debug/kctl/`) })
  .run(stop.signal);
const base = await listening.promise;
const browser = await openBrowser();

/** Notes tasks of the page that block it, and what its policy refuses. Runs in the page. */
const watchPage = () => {
  globalThis.longTasks = [];
  globalThis.violations = [];
  globalThis.judged = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) globalThis.longTasks.push({ startTime, duration });
  }).observe({ type: 'longtask', buffered: true });
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    globalThis.violations.push(`${violatedDirective} ${blockedURI}`),
  );
};

/** Contrast of each text against what is behind it, by WCAG. Runs in the page. */
const lowContrast = () => {
  const begun = performance.now();
  const parse = (/** @type {string} */ text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (/** @type {number[]} */ [r = 0, g = 0, b = 0]) => {
    const [x = 0, y = 0, z = 0] = [r, g, b].map((value) =>
      value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const found = [];
  const texts = 'h1, h2, h3, th, td, p, li, a, dt, dd, label, span, [role=gridcell], [role=columnheader]';
  for (const element of document.querySelectorAll(texts)) {
    if (element.textContent === '') continue;
    const ink = luminance(parse(getComputedStyle(element).color));
    let paper = [255, 255, 255];
    for (let at = element; at !== null; at = at.parentElement) {
      const [r = 0, g = 0, b = 0, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a < 0.9) continue;
      paper = [r, g, b];
      break;
    }
    const behind = luminance(paper);
    const ratio = (Math.max(ink, behind) + 0.05) / (Math.min(ink, behind) + 0.05);
    if (ratio < 4.5) found.push(`${element.textContent.slice(0, 40)} ${ratio.toFixed(1)}`);
  }
  globalThis.judged.push([begun, performance.now()]);
  return found;
};

try {
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme });
    await context.addInitScript(watchPage);
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    /** @type {string[]} */
    const errors = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(base) && !request.url().startsWith('data:')) errors.push(`asks ${request.url()}`);
    });
    const text = (/** @type {string} */ selector) => page.locator(selector).first().textContent();
    /** @param {string} view */
    const judge = async (view) => {
      const low = await page.evaluate(lowContrast);
      expect(`${colorScheme}: ${view} is readable`, low.length === 0, low.slice(0, 3).join('; '));
      expect(`${colorScheme}: ${view} has one title`, (await page.locator('h1').count()) === 1);
      await page.screenshot({ path: join(screenshots, `${colorScheme}-${view}.png`) });
      const height = pictures.get(view);
      if (height === undefined || colorScheme === 'dark') return;
      const clip = { x: 0, y: 0, width: 1280, height };
      await page.screenshot({ path: join('docs/public/inspection', `${view}.png`), clip });
    };

    await page.goto(base);
    await page.locator('.problems').waitFor();
    expect('the page connects', (await text('header [role=status]'))?.startsWith('live') === true);
    expect(
      'the failing key is a problem',
      /1 key fails/.test((await text('.problems')) ?? ''),
      await text('.problems'),
    );
    await judge('overview');

    await page.keyboard.press('Tab');
    expect('Tab begins at the navigation', (await page.evaluate(() => document.activeElement?.tagName)) === 'A');
    await page.goto(base); // a fresh focus
    await page.keyboard.press('Tab');
    expect(
      'the first stop of Tab is the link to the content',
      (await page.evaluate(() => document.activeElement?.textContent)) === 'Skip to content',
    );
    await page.keyboard.press('Enter');
    expect('the link leads to the content', (await page.evaluate(() => document.activeElement?.id)) === 'main');

    await page.keyboard.press('/');
    await page.locator('#search').waitFor();
    await page.getByText(`${count + 1} keys`).waitFor();
    await judge('keys');
    const shown = await page.locator('.rows .row').count();
    expect('only the visible rows are in the document', shown > 5 && shown < 100, shown);
    expect('what is wrong is first', (await text('#row-0'))?.includes('shop/broken') === true, await text('#row-0'));
    await page.locator('.list').focus();
    await page.keyboard.press('ArrowDown');
    await page.locator('#row-1.active').waitFor();
    await page.keyboard.press('End');
    await page.locator(`#row-${count}.active`).getByText('shop/widget').waitFor();
    await page.keyboard.press('PageUp');
    await page.keyboard.press('Home');
    await page.locator('#row-0.active').getByText('shop/broken').waitFor();
    // Through all of them, as a person drags the bar.
    await page.evaluate(async () => {
      const list = document.querySelector('.list');
      for (let at = 0; at <= 60; at++) {
        list.scrollTop = (list.scrollHeight * at) / 60;
        await new Promise(requestAnimationFrame);
      }
      list.scrollTop = 0;
    });
    await page.locator('#row-0').getByText('shop/broken').waitFor();
    await page.locator('.list').focus();
    await page.keyboard.press('Enter');
    await page.locator('.timeline li').first().waitFor();
    expect('Enter opens the key', (await text('h1')) === 'shop/broken', await text('h1'));
    const timeline = (await text('.timeline')) ?? '';
    expect('the timeline says why', timeline.includes('Widget.example.com update shop/broken @7'), timeline);
    expect('the timeline says how it ended', timeline.includes('RangeError'), timeline);
    expect('no message of an error is shown', !timeline.includes('too many'), timeline);
    await judge('key');
    const before = await page.locator('.timeline > li').count();
    run('shop/broken', failure);
    await page.waitForFunction((last) => document.querySelectorAll('.timeline > li').length === last + 1, before);
    expect('a run appears by itself', true);
    await page.goBack();
    await page.locator('.list').waitFor();
    expect('Back leads to the keys', (await text('h1')) === 'Keys', await text('h1'));
    await page.keyboard.press('/');
    await page.keyboard.type('04321');
    await page.getByText('1 keys', { exact: true }).waitFor();
    await page.locator('#row-0').getByText('shop/widget-04321').waitFor();
    expect('the search keeps the focus', (await page.evaluate(() => document.activeElement?.id)) === 'search');
    for (const view of ['informers', 'graph', 'rights']) {
      await page.goto(`${base}#/${view}`);
      await page.locator('h1').getByText(view, { exact: false }).first().waitFor();
      await judge(view);
    }
    const { longTasks, violations } = await page.evaluate(() => ({
      // Those of this script's own checks do not count.
      longTasks: globalThis.longTasks
        .filter((task) =>
          globalThis.judged.every(([from, to]) => task.startTime > to || task.startTime + task.duration < from),
        )
        .map(({ duration }) => Math.round(duration)),
      violations: globalThis.violations,
    }));
    expect(
      `${colorScheme}: no task is longer than 100 ms`,
      longTasks.every((ms) => ms <= 100),
      `${longTasks.join(', ')} (elapsed time: a busy machine makes it longer)`,
    );
    expect(`${colorScheme}: the policy refuses nothing`, violations.length === 0, violations.join('; '));
    expect(`${colorScheme}: no error in the console`, errors.length === 0, errors.join('; '));
    await context.close();
  }
} catch (error) {
  for (const page of browser.contexts().flatMap((context) => context.pages()))
    await page.screenshot({ path: join(screenshots, 'failed.png') });
  expect('every step is done', false, error);
} finally {
  await browser.close();
  stop.abort();
  await serving;
}
console.log(`${checks.passed} of ${checks.passed + checks.failed} checks hold`);
process.exit(checks.failed === 0 ? 0 : 1);
