/**
 * A parsed object that may be collected, where its bytes stay: while it is referred to, each read returns it; afterwards it
 * is parsed again. Of a version that was not read it is the version before, to share structure with.
 */
export class WeakObject<V extends object> {
  readonly #reference: WeakRef<V>;
  readonly isVersionBefore: boolean;

  constructor(value: V, isVersionBefore: boolean) {
    this.#reference = new WeakRef(value);
    this.isVersionBefore = isVersionBefore;
  }

  get value(): V | undefined {
    return this.#reference.deref();
  }
}
