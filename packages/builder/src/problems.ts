import { messageOf } from '@kctl/telemetry/internal';
import { DefinitionError } from './errors.js';

/** The mistakes of a definition, and what was thrown for some of them. */
export class Problems {
  readonly texts: string[];
  readonly #thrown: unknown[] = [];

  constructor(texts: readonly string[] = []) {
    this.texts = [...texts];
  }

  get isEmpty(): boolean {
    return this.texts.length === 0;
  }

  /** Runs a step of the definition; what it throws becomes a problem. */
  collect<T>(step: () => T): T | undefined {
    try {
      return step();
    } catch (error) {
      this.texts.push(messageOf(error));
      this.#thrown.push(error);
      return undefined;
    }
  }

  /** The error that names every problem. Its cause is the thrown error, or all of them if there are several. */
  error(subject: string): DefinitionError {
    if (this.#thrown.length === 0) return new DefinitionError(subject, this.texts);
    const [first, ...others] = this.#thrown;
    const cause = others.length === 0 ? first : new AggregateError(this.#thrown, `${subject}: several steps failed`);
    return new DefinitionError(subject, this.texts, { cause });
  }
}
