// Texts and answers that are not ours: what a terminal is shown, and how much is read.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { terminalText } from '../src/terminal-text.js';
import { readUrl } from '../src/read-url.js';
import { runKctl } from '../src/index.js';
import { kctl, project } from './project.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function serve(answer: (response: ServerResponse, path: string) => void): Promise<string> {
  const server = createServer((request, response) => answer(response, request.url ?? ''));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const escape = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202egnp\r';

describe('what kctl prints', () => {
  it('has no characters that command a terminal', () => {
    expect(terminalText(`a\tb\n${escape}é😀`)).toBe(
      'a\tb\n\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u202egnp\\u000dé😀',
    );
    expect(terminalText('a\r\nb\rc')).toBe('a\r\nb\\u000dc');
    const json = JSON.stringify({ name: escape });
    expect(JSON.parse(terminalText(json))).toEqual({ name: escape });
  });

  it('is made so for every command: an error of an address', async () => {
    const url = await serve((response) => response.writeHead(500).end(`no ${escape}`));
    const { code, err } = await kctl(project(), 'inspect', '--url', url);
    expect(code).toBe(1);
    expect(err).toContain('answers 500: no \\u001b]0;owned');
    expect(err).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  it('is made so for results, which stay JSON', async () => {
    const crd = { kind: 'CustomResourceDefinition', metadata: { name: escape } };
    const url = await serve((response) => response.end(JSON.stringify(crd)));
    for (const flags of [[], ['--json']]) {
      const { out, err } = await kctl(project(), 'generate', 'kinds', '--from', url, ...flags);
      expect(`${out}${err}`).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
    }
    const shown: string[] = [];
    const io = {
      cwd: project(),
      environment: {},
      out: (text: string) => void shown.push(text),
      err: (text: string) => void shown.push(text),
      signal: new AbortController().signal,
    };
    writeFileSync(join(io.cwd, 'package.json'), JSON.stringify({ name: 'a', kctl: { output: `deploy-\u009b31m` } }));
    await runKctl(io, ['generate', 'rbac']);
    expect(shown.join('')).toContain('deploy-\\u009b31m');
    expect(shown.join('')).not.toContain('\u009b');
  });

  it('is made so for what a person gives', async () => {
    const { err } = await kctl(project(), `gen${escape}`);
    expect(err).toContain('unknown command');
    expect(err).not.toContain('\u001b');
  });
});

describe('an address that is read', () => {
  it.each([
    ['inspect', '--url'],
    ['generate', 'kinds', '--from'],
  ])('is not left by a redirect: %s %s %s', async (...words) => {
    let isReached = false;
    const other = await serve((response) => {
      isReached = true;
      response.end('{}');
    });
    const url = await serve((response, path) => response.writeHead(302, { location: `${other}${path}` }).end());
    const { code, err } = await kctl(project(), ...words.filter(Boolean), url);
    expect(code).toBe(1);
    expect(err).toContain(`redirects to ${other}`);
    expect(isReached).toBe(false);
  });

  it('is read up to a limit', async () => {
    let sent = 0;
    const url = await serve((response) => {
      const more = (): void => {
        while (!response.destroyed && sent < 512 * 1024 * 1024) {
          sent += 65_536;
          if (!response.write(Buffer.alloc(65_536, 0x20))) {
            response.once('drain', more);
            return;
          }
        }
      };
      more();
    });
    const reading = readUrl(url, { maxBytes: 1024 * 1024, timeoutMs: 60_000, signal: new AbortController().signal });
    await expect(reading).rejects.toThrow(`${url} answers with more than 1048576 bytes`);
    expect(sent).toBeLessThan(256 * 1024 * 1024);
  });

  it('has a time limit for the whole answer', async () => {
    const url = await serve((response) => void response.write('{'));
    const reading = readUrl(url, { maxBytes: 1024, timeoutMs: 50, signal: new AbortController().signal });
    await expect(reading).rejects.toThrow(`${url} has not answered in full after 0.05 s`);
  });
});
