import { useEffect, useState } from 'preact/hooks';

/** What an answer of the server may be while it is asked for. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: string | undefined;
}

/** The answer to a path below the page's own; asked again whenever `version` changes, and kept until the next is there. */
export function useView<T>(path: string, version: unknown): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T> & { readonly path: string }>({
    path,
    value: undefined,
    error: undefined,
  });
  useEffect(() => {
    const ended = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        const response = await fetch(path, { signal: ended.signal });
        if (!response.ok) throw new Error((await response.text()).trim());
        // The server is the one that served this page.
        const value = (await response.json()) as T;
        setLoaded({ path, value, error: undefined });
      } catch (error) {
        if (!ended.signal.aborted) setLoaded({ path, value: undefined, error: String(error) });
      }
    };
    void ask();
    return () => ended.abort();
  }, [path, version]);
  return loaded;
}
