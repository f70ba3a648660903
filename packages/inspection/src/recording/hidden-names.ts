import { createHmac, randomBytes } from 'node:crypto';

/**
 * Replaces names of Secrets by a mark that is the same for the same name in this process and reveals nothing of it. It
 * uses a random key, so that a guess cannot be checked.
 */
export class HiddenNames {
  readonly #isOff: boolean;
  readonly #key = randomBytes(16);
  /** Whether a source, by its name, is one of Secrets. There are as many as watches. */
  readonly #sources = new Map<string, boolean>();

  /** `isOff`: names of Secrets are recorded like all others. */
  constructor(isOff: boolean) {
    this.#isOff = isOff;
  }

  /** Whether the objects of a source are Secrets, by its name: `kind source: Secret (metadata)`. */
  isSecretSource(source: string): boolean {
    if (this.#isOff) return false;
    let isSecret = this.#sources.get(source);
    if (isSecret === undefined) {
      // The kind is known for a kind source; names of other sources are chosen by programs.
      const [, kind] = /^kind source: (\S+)/.exec(source) ?? [];
      isSecret = kind === undefined ? /(?:^|\W)secrets?(?:\W|$)/i.test(source) : kind === 'Secret';
      if (this.#sources.size < 1000) this.#sources.set(source, isSecret);
    }
    return isSecret;
  }

  isSecretKind(groupKind: string): boolean {
    return !this.#isOff && groupKind === 'Secret';
  }

  /** `shop/database` becomes `shop/#3f2a9c01`. */
  hide(key: string): string {
    const slash = key.lastIndexOf('/');
    const mark = createHmac('sha256', this.#key).update(key).digest('hex').slice(0, 8);
    return `${key.slice(0, slash + 1)}#${mark}`;
  }
}
