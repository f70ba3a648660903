/**
 * Destination of the objects read by a bare reflector, which is a store, or a queue such as a DeltaFIFO. Mirrors
 * `cache.ReflectorStore`. Every method is synchronous; an error is reported, and costs that one object. If `replace`
 * throws, which would cost all of them, the collection is listed again, by the back-off.
 */
export interface ReflectorStore<T> {
  /** An object was added. It did not exist before, as far as the server reports. */
  add(object: T): void;
  update(object: T): void;
  /** The object as it was at its end. */
  delete(object: T): void;
  /**
   * Everything that there is, as of this version of the collection. `isIncomplete`: items of the list could not be read,
   * so what is missing is not necessarily gone.
   */
  replace(objects: readonly T[], resourceVersion: string, info: { readonly isIncomplete: boolean }): void;
  /** The resync period has passed. @default nothing */
  resync?(): void;
  /** The collection is at this version, with nothing changed. @default nothing */
  bookmark?(resourceVersion: string): void;
}
