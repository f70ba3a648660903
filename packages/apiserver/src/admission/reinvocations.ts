import type { UntypedObject } from '@kctl/apimachinery';
import { equalSemantic } from '@kctl/crd/internal/engine';
import type { AdmissionWrite } from './write.js';

/**
 * The members of a mutating plugin (webhooks, or policies with a binding) that are called again in the second round of
 * one write. Those are the ones that require it, were called, and after which another one changed the object.
 */
export class Reinvocations {
  readonly #write: AdmissionWrite;
  /** The object as the plugin left it in the last round. */
  #lastOutput: UntypedObject | undefined;
  readonly #invoked = new Set<string>();
  readonly #again = new Set<string>();

  constructor(write: AdmissionWrite) {
    this.#write = write;
  }

  /** Those of one plugin, for both rounds of a write. */
  static of(write: AdmissionWrite, plugin: string): Reinvocations {
    const { values } = write.reinvocation;
    const known = values.get(plugin);
    if (known instanceof Reinvocations) return known;
    const made = new Reinvocations(write);
    values.set(plugin, made);
    return made;
  }

  /** Begins a round of the plugin; changes by other plugins in the meantime count, too. */
  begin(): void {
    const { reinvocation, object } = this.#write;
    if (reinvocation.isReinvoke && !equalSemantic(this.#lastOutput, object)) this.#callAgain();
  }

  /** Whether a member is called in this round. */
  isDue(member: string): boolean {
    return !this.#write.reinvocation.isReinvoke || this.#again.has(member);
  }

  /** A member was called. */
  note(
    member: string,
    { isChanged, isReinvoked }: { readonly isChanged: boolean; readonly isReinvoked: boolean },
  ): void {
    if (isChanged) this.requireAll();
    if (isReinvoked) this.#invoked.add(member);
  }

  /** Calls all members that were called and require it again, including those that changed the object themselves. */
  requireAll(): void {
    this.#callAgain();
    this.#write.reinvocation.isRequested = true;
  }

  /** The round of the plugin has ended, however it did. */
  end(): void {
    this.#lastOutput = this.#write.object;
  }

  #callAgain(): void {
    for (const member of this.#invoked) this.#again.add(member);
    this.#invoked.clear();
  }
}
