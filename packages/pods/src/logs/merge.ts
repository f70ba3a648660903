/** What arrives from several sources, in the order of its arrival. Leaving it ends all of them; a failure of one ends all. */
export async function* merge<T>(
  sources: readonly AsyncGenerator<T, void, undefined>[],
): AsyncGenerator<T, void, undefined> {
  const step = async (source: AsyncGenerator<T, void, undefined>): Promise<Step<T>> => ({
    source,
    result: await source.next(),
  });
  const waiting = new Map(sources.map((source) => [source, step(source)]));
  try {
    while (waiting.size > 0) {
      const { source, result } = await Promise.race(waiting.values());
      if (result.done === true) {
        waiting.delete(source);
        continue;
      }
      waiting.set(source, step(source));
      yield result.value;
    }
  } finally {
    for (const pending of waiting.values()) pending.catch(() => undefined);
  }
}

interface Step<T> {
  readonly source: AsyncGenerator<T, void, undefined>;
  readonly result: IteratorResult<T, void>;
}
