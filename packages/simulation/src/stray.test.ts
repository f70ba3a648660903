import { expect, it } from 'vitest';
import { callerOf } from './stray.js';

const built = 'file:///app/node_modules/@kctl';
const stackOf = (...frames: string[]): string => ['Error', ...frames.map((frame) => `    at ${frame}`)].join('\n');
const timer = [
  `#stray (${built}/simulation/dist/index.js:1:1)`,
  `new SystemTimer (${built}/wait/dist/index.js:2:2)`,
  `Object.setTimer (${built}/wait/dist/index.js:3:3)`,
];

it.each([
  ['a timer that keeps the process alive', [...timer, `keepAlive (${built}/wait/dist/index.js:4:4)`]],
  ['the default randomness', [`Object.systemRandom [as random] (${built}/wait/dist/index.js:5:5)`]],
  ['a library', [...timer, 'Pool.open (file:///app/node_modules/pool/index.js:1:1)']],
])('allows %s, from built packages too', (_, frames) => {
  expect(callerOf(stackOf(...frames))).toBeUndefined();
});

it('passes over its own frames, wherever it is built', () => {
  for (const place of ['/work/packages/simulation/dist/index.js', 'file:///app/packages/simulation/src/stray.ts'])
    expect(callerOf(stackOf(`deepStack (${place}:1:1)`, 'Poller.turn (file:///app/src/poller.ts:7:9)'))).toContain(
      'poller.ts',
    );
});

it('names who took the clock of the machine, past the clock itself', () => {
  expect(callerOf(stackOf(...timer, 'Poller.turn (file:///app/src/poller.ts:7:9)'))).toBe(
    'Poller.turn (/app/src/poller.ts:7:9)',
  );
  const now = `Object.now (${built}/wait/dist/index.js:6:6)`;
  expect(callerOf(stackOf(now, 'Poller.turn (file:///app/src/poller.ts:7:9)'))).toContain('poller.ts');
});
