/** Merges several sources in order of arrival. Leaving it ends all of them; a failure of one ends all. */
export async function* merge<T>(
  sources: readonly AsyncGenerator<T, void, undefined>[],
): AsyncGenerator<T, void, undefined> {
  // A race of the pending steps would retain each line for as long as one source is quiet, because its promise holds a
  // reaction for each race that it was in, and the reaction holds the winner.
  const arrived: Step<T>[] = [];
  let wake = (): void => undefined;
  const advance = (source: AsyncGenerator<T, void, undefined>): void => {
    const note = (step: Step<T>): void => {
      arrived.push(step);
      wake();
    };
    source.next().then(
      (result) => note({ source, result }),
      (error: unknown) => note({ error }),
    );
  };
  for (const source of sources) advance(source);
  let running = sources.length;
  while (running > 0) {
    const step = arrived.shift();
    if (step === undefined) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      continue;
    }
    if ('error' in step) throw step.error;
    const { source, result } = step;
    if (result.done === true) {
      running--;
      continue;
    }
    advance(source);
    yield result.value;
  }
}

type Step<T> =
  | { readonly source: AsyncGenerator<T, void, undefined>; readonly result: IteratorResult<T, void> }
  | { readonly error: unknown };
