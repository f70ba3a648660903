import { expect, it } from 'vitest';
import { portLogger } from './port-logger.js';
import type { FromWorker } from './protocol.js';

it('sends each line with its level, and its fields as values that can cross', () => {
  const sent: FromWorker[] = [];
  const logger = portLogger((message) => void sent.push(structuredClone(message)));
  const levels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
  for (const level of levels) {
    expect(logger.isEnabled(level)).toBe(true);
    logger[level]('a line');
  }
  expect(sent).toEqual(levels.map((level) => ({ type: 'log', level, message: 'a line', fields: {} })));
  sent.length = 0;
  const fields = { text: 'x', count: 3, flag: false, list: [1, 2], call: Symbol('s'), error: new TypeError('bad') };
  logger.child({ lock: 'l', count: 1 }).child({ term: 2 }).info('more', fields);
  expect(sent).toEqual([
    {
      type: 'log',
      level: 'info',
      message: 'more',
      fields: {
        lock: 'l',
        term: 2,
        text: 'x',
        count: 3,
        flag: false,
        list: '1,2',
        call: 'Symbol(s)',
        error: { name: 'TypeError', message: 'bad' },
      },
    },
  ]);
});
