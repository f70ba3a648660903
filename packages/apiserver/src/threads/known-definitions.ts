import type { UntypedObject } from '@kctl/apimachinery';
import type { DefinitionText } from '../offload/long-read.js';
import { builtInDefinitions } from '../registry/builtins.js';
import { createRegistry } from '../crd/create-registry.js';
import type { Registry } from '../registry/registry.js';
import type { Inquiry } from './inquiry.js';

/** Custom resources whose definitions are kept compiled. */
const maxKept = 16;

/** The definitions that the jobs of this thread are about. */
export class KnownDefinitions {
  readonly registry: Registry;
  /** By name, the least recently used first. */
  readonly #crds = new Map<string, string>();
  /** Inquiry of the job under way, for the conversion of objects. */
  inquiry: Inquiry | undefined;

  constructor() {
    const inquiry = (): Inquiry => {
      if (this.inquiry === undefined) throw new Error('no job is under way');
      return this.inquiry;
    };
    this.registry = createRegistry({
      definitions: builtInDefinitions(),
      webhookCaller: { post: (...call) => inquiry().post(...call), newUid: () => inquiry().newUid() },
    });
  }

  /** Serves a definition. `served` are the definitions of this job, which stay. */
  serve(served: ReadonlySet<string>, { name, text }: DefinitionText, crd: () => UntypedObject): void {
    if (this.#crds.get(name) !== text) this.registry.registerCrd(crd());
    this.#crds.delete(name);
    this.#crds.set(name, text);
    const [oldest] = this.#crds.keys();
    if (this.#crds.size <= maxKept || oldest === undefined || served.has(oldest)) return;
    this.#crds.delete(oldest);
    this.registry.unregisterCrd(oldest);
  }
}
