/**
 * Characters that change the display of a terminal, which are control characters except line ends and tab, and marks
 * that change the writing direction. Names, messages and annotations of a cluster can contain them.
 */
const commanding =
  /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** A string that a terminal shows as it is, with escapes such as `\u001b` that leave JSON valid. */
export function terminalText(text: string): string {
  return text.replace(commanding, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
