import { expect, it } from 'vitest';
import { ObjectMemos } from './object-memos.js';

const object = (name: string, uid: string) => ({ metadata: { namespace: 'a', name, uid } });

it('keeps state per object, anew for another object of the name, and nothing of what is gone', () => {
  const memos = new ObjectMemos();
  const create = (): { runs: number } => ({ runs: 0 });
  memos.of(object('x', 'u1'), create).runs++;
  expect(memos.of(object('x', 'u1'), create)).toEqual({ runs: 1 });
  expect(memos.of(object('y', 'u2'), create)).toEqual({ runs: 0 });
  expect(memos.of(object('x', 'u3'), create)).toEqual({ runs: 0 });
  expect(memos.size).toBe(2);
  memos.drop({ namespace: 'a', name: 'x' });
  memos.drop({ namespace: 'a', name: 'y' });
  memos.drop({ namespace: 'a', name: 'y' });
  expect(memos.size).toBe(0);
});
