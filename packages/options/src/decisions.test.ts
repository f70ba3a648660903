import { describe, expect, expectTypeOf, it } from 'vitest';
import { decides, refusedOption, sentOptions, type AnsweredOptions } from './decisions.js';

interface ReadOptions {
  readonly limit?: number;
  readonly live?: boolean;
  readonly continue?: string;
}

const table = decides<ReadOptions>()({ limit: 'sent', live: 'answered', continue: { refused: 'not paged' } });

describe('decisions', () => {
  it('send what is to be sent and given', () => {
    const sent = sentOptions(table, { limit: 5, live: true, continue: 'x' });
    expect(sent).toEqual({ limit: 5 });
    expectTypeOf<keyof typeof sent>().toEqualTypeOf<'limit'>();
    expectTypeOf<keyof AnsweredOptions<ReadOptions, typeof table>>().toEqualTypeOf<'live'>();
    expect(Object.keys(sentOptions(table, Object.assign({ toString: 1, limit: undefined })))).toEqual([]);
  });

  it('refuse with the reason', () => {
    expect(refusedOption(table, { limit: 5, continue: 'x' })).toEqual({ name: 'continue', reason: 'not paged' });
    expect(refusedOption(table, { limit: 5, continue: '' })).toBeUndefined();
  });

  it('do not compile where one is missing or unknown', () => {
    // @ts-expect-error -- continue is not decided
    expect(decides<ReadOptions>()({ limit: 'sent', live: 'answered' })).toBeDefined();
    // @ts-expect-error -- limits is not an option
    decides<ReadOptions>()({ limit: 'sent', live: 'answered', continue: 'sent', limits: 'sent' });
    // @ts-expect-error -- a refusal has a reason
    decides<ReadOptions>()({ limit: 'sent', live: 'answered', continue: 'refused' });
  });
});
