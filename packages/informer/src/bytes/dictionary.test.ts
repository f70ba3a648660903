import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deflate, inflate } from './deflate.js';
import { Dictionary, learnDictionary } from './dictionary.js';

const pod = (name: string): Buffer =>
  Buffer.from(`{"metadata":{"name":"${name}"},"spec":{"containers":[{"image":"registry/${name}","args":["serve"]}]}}`);

describe('learnDictionary', () => {
  it('joins samples of different forms, the least alike of them early', () => {
    const other = Buffer.from('{"status":{"phase":"Running","conditions":[{"type":"Ready","reason":"Started"}]}}');
    const samples = [...['a', 'b', 'c', 'd', 'e'].map(pod), other];
    const dictionary = learnDictionary(samples) ?? Buffer.alloc(0);
    expect(dictionary.subarray(0, pod('a').length + other.length).includes(other)).toBe(true);
    // Four of them.
    expect(dictionary.length).toBe(3 * pod('a').length + other.length);
    for (const sample of samples) {
      const frame = deflate(sample, dictionary);
      expect(frame.length).toBeLessThan(deflate(sample, undefined).length / 2);
      expect(inflate(frame, sample.length, dictionary)).toEqual(sample);
    }
  });

  it.each([
    ['nothing', [], undefined],
    ['nothing but empty samples', [Buffer.alloc(0)], undefined],
    ['samples that are too long', [Buffer.alloc(8 * 1024 + 1, 'x')], undefined],
    ['samples of which one is too long', [randomBytes(8 * 1024 + 1), randomBytes(100)], 100],
    ['one that just fits', [Buffer.alloc(8 * 1024, 'x')], 8 * 1024],
    ['two that fit one by one', [randomBytes(5_000), randomBytes(5_000)], 5_000],
    ['two that fit together', [randomBytes(4_096), randomBytes(4_096)], 8 * 1024],
  ])('has of %s what fits into the window of the compressor', (_what, samples, length) => {
    expect(learnDictionary(samples)?.length).toBe(length);
  });

  it('begins with the sample that is compressed least, wherever it is', () => {
    const samples = [100, 3_000, 1_000].map((length) => randomBytes(length));
    const [, largest = Buffer.alloc(0), next = Buffer.alloc(0)] = samples;
    const dictionary = learnDictionary(samples) ?? Buffer.alloc(0);
    expect(dictionary.subarray(0, 4_000)).toEqual(Buffer.concat([largest, next]));
  });

  it('owns its memory, whatever the samples become', () => {
    const sample = pod('a');
    const dictionary = learnDictionary([sample]);
    const before = dictionary?.toString();
    sample.fill(0);
    expect(dictionary?.toString()).toBe(before);
  });
});

describe('Dictionary', () => {
  /** How often samples are taken while blocks of these sizes are compressed, a share of 1,000 bytes each. */
  function learnings(rounds: readonly number[]): number[] {
    const dictionary = new Dictionary();
    let learned = 0;
    const samples = (): readonly Buffer[] => {
      learned++;
      return [pod('a')];
    };
    return rounds.map((frameBytes) => {
      for (let block = 0; block < 256; block++) {
        expect(dictionary.bytesFor(samples)).toEqual(pod('a'));
        dictionary.judge(1_000, frameBytes);
      }
      dictionary.bytesFor(samples);
      return learned;
    });
  }

  it.each([
    { name: 'once while blocks stay as small', rounds: [100, 150, 120, 50, 150], learned: [1, 1, 1, 1, 1] },
    { name: 'again when blocks are half as large again', rounds: [100, 151, 151], learned: [1, 2, 2] },
    {
      name: 'ever more rarely when it does not help',
      rounds: [100, 200, 200, 400, 400, 400, 800, 1_600, 1_600, 1_600],
      learned: [1, 2, 2, 2, 3, 3, 3, 3, 3, 4],
    },
  ])('is learned $name', ({ rounds, learned }) => {
    expect(learnings(rounds)).toEqual(learned);
  });

  it('is not learned anew before 256 blocks were judged', () => {
    const dictionary = new Dictionary();
    let learned = 0;
    const next = (frameBytes: number): void => {
      dictionary.bytesFor(() => {
        learned++;
        return [];
      });
      dictionary.judge(1_000, frameBytes);
    };
    for (let block = 0; block < 256; block++) next(100);
    for (let block = 0; block < 255; block++) next(900);
    next(900);
    expect(learned).toBe(1);
    next(900);
    expect(learned).toBe(2);
  });
});
