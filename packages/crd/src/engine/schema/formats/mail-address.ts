import { isIP } from 'node:net';

/** Thrown inside of the parser if the input is not an address. */
class NotAnAddress extends Error {}

const knownCharsets: ReadonlySet<string> = new Set(['utf-8', 'iso-8859-1', 'us-ascii']);
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const quotedPrintable = /^(?:[\t -<>-~]|=[0-9A-Fa-f]{2})*$/;

/** Whether a word is encoded (RFC 2047), and in a character set that Go does not read. */
function isUnreadable(word: string): boolean {
  const [, charset = '', encoding = '', text = ''] = /^=\?([^?]+)\?([bBqQ])\?([^?]*)\?=$/.exec(word) ?? [];
  if (charset === '' || knownCharsets.has(charset.toLowerCase())) return false;
  return /b/i.test(encoding) ? base64.test(text) : quotedPrintable.test(text);
}

const dotAtom = /[!#-'*+\-./-9=?A-Z^-~\u0080-\uffff]+/y;
const quoted = /"((?:[\t !#-[\]-~\u0080-\uffff]|\\[\t -~\u0080-\uffff])*)"/y;
const literal = /\[([!-Z^-~\u0080-\uffff]*)\]/y;

/**
 * A reader of RFC 5322 addresses that accepts the same as Go's `mail.ParseAddress`, in part more than the standard, in
 * part less.
 */
class AddressReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads one address, in a group perhaps, and nothing behind it. */
  single(): void {
    const count = this.#address(true);
    this.#skipComments();
    if (this.#at < this.#text.length || count !== 1) throw new NotAnAddress();
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    return match;
  }

  #has(char: string): boolean {
    return this.#text[this.#at] === char;
  }

  #consume(char: string): boolean {
    if (!this.#has(char)) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    while (this.#has(' ') || this.#has('\t')) this.#at++;
  }

  /** The content of a comment after its parenthesis. */
  #comment(): string {
    const start = this.#at;
    let depth = 1;
    for (; this.#at < this.#text.length; this.#at++) {
      if (this.#has('\\') && this.#at + 1 < this.#text.length) this.#at++;
      else if (this.#has('(')) depth++;
      else if (this.#has(')') && --depth === 0) return this.#text.slice(start, this.#at++);
    }
    throw new NotAnAddress();
  }

  #skipComments(): void {
    this.#skipSpace();
    while (this.#consume('(')) {
      this.#comment();
      this.#skipSpace();
    }
  }

  /** Reads an address, or a group of them, and returns how many there are. */
  #address(mayBeGroup: boolean): number {
    this.#skipSpace();
    if (this.#at >= this.#text.length) throw new NotAnAddress();
    const start = this.#at;
    if (this.#tryAddressSpec()) {
      this.#skipSpace();
      if (
        this.#consume('(') &&
        this.#comment()
          .split(/[ \t]+/)
          .some(isUnreadable)
      )
        throw new NotAnAddress();
      return 1;
    }
    this.#at = start;
    if (!this.#has('<')) this.#phrase();
    this.#skipSpace();
    if (mayBeGroup && this.#consume(':')) return this.#group();
    if (!this.#consume('<') || !this.#tryAddressSpec() || !this.#consume('>')) throw new NotAnAddress();
    return 1;
  }

  #group(): number {
    this.#skipSpace();
    let count = 0;
    if (!this.#consume(';')) {
      do {
        this.#skipSpace();
        count += this.#address(false);
        this.#skipComments();
      } while (!this.#has(';') && this.#consume(','));
      if (!this.#consume(';')) throw new NotAnAddress();
    }
    this.#skipComments();
    return count;
  }

  #tryAddressSpec(): boolean {
    this.#skipSpace();
    const isLocal = this.#has('"') ? this.#take(quoted)?.[1] : this.#strictDotAtom();
    if (isLocal === undefined || isLocal === '' || !this.#consume('@')) return false;
    this.#skipSpace();
    if (!this.#has('[')) return this.#strictDotAtom() !== undefined;
    const address = this.#take(literal)?.[1] ?? '';
    return isIP(address) !== 0 && !address.includes('%');
  }

  #strictDotAtom(): string | undefined {
    const text = this.#take(dotAtom)?.[0];
    return text === undefined || /^\.|\.\.|\.$/.test(text) ? undefined : text;
  }

  /** A display name of words, of which the first is required. */
  #phrase(): void {
    for (let count = 0; ; count++) {
      if (count > 0) this.#skipComments();
      this.#skipSpace();
      if (this.#at >= this.#text.length) return;
      const word = this.#has('"') ? this.#take(quoted)?.[0] : this.#take(dotAtom)?.[0];
      if (word !== undefined && !isUnreadable(word)) continue;
      if (count === 0) throw new NotAnAddress();
      return;
    }
  }
}

/**
 * Whether a string is an e-mail address per Go's `mail.ParseAddress`, such as `a@b`, `Name <a@b.c>`,
 * `"a b"@[::1] (home)`.
 */
export function isMailAddress(text: string): boolean {
  try {
    new AddressReader(text).single();
    return true;
  } catch (error) {
    if (error instanceof NotAnAddress) return false;
    throw error;
  }
}
