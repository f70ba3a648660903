// What a custom backing queue throws from `delete` costs no other key.
import { describe, expect, it } from 'vitest';
import { createWorkQueue } from '../src/index.js';
import type { BackingQueue } from '../src/index.js';

/** Throws from `delete`: before it has removed the item, or after. */
class Failing implements BackingQueue<string> {
  readonly items: string[] = [];
  readonly #when: 'before' | 'after';
  constructor(when: 'before' | 'after') {
    this.#when = when;
  }
  get length(): number {
    return this.items.length;
  }
  push(item: string): void {
    this.items.push(item);
  }
  pop(): string | undefined {
    return this.items.shift();
  }
  delete(item: string): void {
    if (this.#when === 'after') this.items.splice(this.items.indexOf(item), 1);
    throw new Error('the delete');
  }
}

describe.each([
  ['before', ['a', 'b', 'c']],
  ['after', ['b', 'c']],
] as const)('a backing queue whose delete throws %s it has removed the item', (when, left) => {
  it('keeps every other key, in any place', async () => {
    const queue = createWorkQueue({ queue: new Failing(when) });
    queue.add('a');
    queue.add('b');
    expect(() => queue.delete('a')).toThrow('the delete');
    queue.add('c');
    expect([queue.length, queue.has('a')]).toEqual([left.length, when === 'before']);
    const got: (string | undefined)[] = [];
    for (let count = 0; count < left.length; count++) {
      const item = await queue.get({ signal: AbortSignal.timeout(5000) });
      got.push(item);
      if (item !== undefined) queue.done(item);
    }
    expect(got).toEqual(left);
    queue.add('a');
    expect(await queue.get()).toBe('a');
    queue.done('a');
    expect(queue.length).toBe(0);
    await queue.shutDownWithDrain();
  });
});
