/** Flags as Go's programs take them: `--name=value`, `--name value`, and `--name` alone for true. */
export class Flags {
  readonly #values = new Map<string, string[]>();

  /** @param switches flags without a value, so that `--name value` leaves the value alone */
  constructor(args: readonly string[], switches: ReadonlySet<string> = new Set()) {
    for (let index = 0; index < args.length; index++) {
      const argument = args[index] ?? '';
      const match = /^--?([^=]+)(?:=(.*))?$/s.exec(argument);
      if (match === null) continue;
      const [, name = '', given] = match;
      const next = args[index + 1];
      const takesNext = given === undefined && !switches.has(name) && next !== undefined && !next.startsWith('-');
      if (takesNext) index++;
      const value = given ?? (takesNext ? next : 'true');
      this.#values.set(name, [...(this.#values.get(name) ?? []), value]);
    }
  }

  get names(): readonly string[] {
    return [...this.#values.keys()];
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The last value. */
  last(name: string): string | undefined {
    return this.#values.get(name)?.at(-1);
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  /** All values, separated by commas if one may hold several. */
  list(name: string): readonly string[] {
    return this.all(name)
      .flatMap((value) => value.split(','))
      .filter((value) => value !== '');
  }
}
