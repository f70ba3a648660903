import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { defaultUserAgent } from './user-agent.js';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const facts = { platform: 'linux', arch: 'x64' };
const rest = `(linux/x64) kctl/${version}`;

describe('defaultUserAgent', () => {
  it.each([
    ['/app/dist/operator.js', 'operator'],
    ['/app/node_modules/.bin/kctl-demo', 'kctl-demo'],
    ['/app/my operator.mts', 'my-operator'],
    [undefined, 'unknown'],
  ])('names the program after its script %s', (script, name) => {
    const argv = script === undefined ? ['/usr/bin/node'] : ['/usr/bin/node', script];
    expect(defaultUserAgent({ ...facts, argv })).toBe(`${name}/unknown ${rest}`);
  });

  it('takes what the program calls itself, with or without a version', () => {
    expect(defaultUserAgent({ ...facts, program: 'widget-operator' })).toBe(`widget-operator/unknown ${rest}`);
    expect(defaultUserAgent({ ...facts, program: 'widget-operator/1.2.0' })).toBe(`widget-operator/1.2.0 ${rest}`);
    expect(defaultUserAgent({ ...facts, program: 'a\r\nX: y/1 2' })).toBe(`a-X-y/1-2 ${rest}`);
  });
});
