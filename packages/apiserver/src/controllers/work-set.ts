/** Keys that wait for work, each at most once, first come first served. */
export interface WorkSet<K> {
  add(key: K): void;
  take(): K | undefined;
  clear(): void;
}

export function createWorkSet<K>(): WorkSet<K> {
  const waiting = new Set<K>();
  return {
    add: (key) => waiting.add(key),
    take() {
      const [first] = waiting;
      if (first !== undefined) waiting.delete(first);
      return first;
    },
    clear: () => waiting.clear(),
  };
}
