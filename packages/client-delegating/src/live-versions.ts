import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';

const capacity = 10_000;

/** The object versions that were lately read from the server as a whole. */
export class LiveVersions {
  readonly #seen = new Set<string>();

  add(object: DeepReadonly<KubeObject>): void {
    const id = idOf(object);
    this.#seen.delete(id);
    this.#seen.add(id);
    if (this.#seen.size <= capacity) return;
    const [oldest] = this.#seen;
    if (oldest !== undefined) this.#seen.delete(oldest);
  }

  has(object: DeepReadonly<KubeObject>): boolean {
    return this.#seen.has(idOf(object));
  }
}

function idOf({ metadata: { uid = '', resourceVersion = '' } }: DeepReadonly<KubeObject>): string {
  return `${uid} ${resourceVersion}`;
}
