const alphabet = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The bytes of standard, padded Base64 (line breaks allowed); undefined if the string is not valid Base64. */
export function parseBase64(text: string): Uint8Array | undefined {
  const plain = text.replaceAll(/[\r\n]/g, '');
  if (!alphabet.test(plain)) return undefined;
  return Uint8Array.from(atob(plain), (char) => char.charCodeAt(0));
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
