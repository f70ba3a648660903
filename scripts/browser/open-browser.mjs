// A real headless browser for checks of pages, and how those are counted.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';

const { chromium } = createRequire(new URL('../../docs/package.json', import.meta.url))('playwright-core');
const usual = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser that CHROMIUM names, else one that is installed. @returns {string | undefined} */
function findBrowser() {
  return [process.env.CHROMIUM, ...usual].find((path) => path !== undefined && path !== '' && existsSync(path));
}

/**
 * Ends the process, naming what is missing, where there is no browser or not what it would open.
 *
 * @param {string} needed a file that a build writes @param {string} remedy how to write it
 */
export function requireBrowser(needed, remedy) {
  const problem =
    findBrowser() === undefined
      ? 'no browser: install chromium, or name one in CHROMIUM'
      : existsSync(needed)
        ? undefined
        : `${needed} is missing: run ${remedy}`;
  if (problem === undefined) return;
  console.error(problem);
  process.exit(1);
}

/** An empty folder for screenshots. @param {string} folder */
export function emptyFolder(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}

export async function openBrowser() {
  return await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox', '--disable-gpu'] });
}

/** Counts what holds, and names what does not. */
export function createChecks() {
  let failures = 0;
  let checks = 0;
  return {
    /** @param {string} what @param {boolean} holds @param {unknown} [detail] */
    expect(what, holds, detail = '') {
      checks += 1;
      if (holds) return;
      failures += 1;
      console.error(`FAIL  ${what}${detail === '' ? '' : `: ${String(detail)}`}`);
    },
    get passed() {
      return checks - failures;
    },
    get failed() {
      return failures;
    },
  };
}
