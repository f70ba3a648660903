/**
 * A parsed object that may be collected, because its bytes stay. While it is referenced, each read returns it;
 * afterwards it is parsed again. For a version that was not read, it is the previous version, to share structure with.
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
