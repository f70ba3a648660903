import { BodyError } from '@kctl/http-server';

/** How many bytes of request bodies are held at a time, over all requests of a server. */
export class BodyBudget {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Takes bytes until the result is called. One body alone always fits. @throws BodyError 503 when they are used up */
  take(bytes: number): () => void {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#maxBytes)
      throw new BodyError('too many request bodies at a time; try again', 503);
    this.#bytes += bytes;
    return () => {
      this.#bytes -= bytes;
    };
  }
}
