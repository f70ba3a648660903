import { createHash } from 'node:crypto';
import { pageSource } from './page-source.js';

/** The page and what a browser may do with it. */
export interface Page {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

const missing =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>kctl inspection</title><p>The page is made by the build of @kctl/inspection: run it, or read overview, keys, timeline, informers, graph and rights as JSON.';

/** The permissions of a page, which may run and style itself by its contents, call its server, and nothing else. */
export function makePage(html: string = pageSource ?? missing): Page {
  const hashes = (tag: string): string => {
    const contents = [...html.matchAll(new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`, 'g'))];
    const found = contents.map(
      ([, content = '']) => `'sha256-${createHash('sha256').update(content).digest('base64')}'`,
    );
    return found.length === 0 ? "'none'" : found.join(' ');
  };
  return {
    html,
    contentSecurityPolicy: [
      "default-src 'none'",
      `script-src ${hashes('script')}`,
      `style-src ${hashes('style')}`,
      "connect-src 'self'",
      'img-src data:', // the empty icon, without which browsers ask for /favicon.ico
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ].join('; '),
  };
}
