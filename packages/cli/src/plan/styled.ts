import { styleText } from 'node:util';
import type { TextStyle } from '../io.js';

/** Text with a style, which ends before a line end. */
export function styled(text: string, style: TextStyle): string {
  const line = text.replace(/\n$/, '');
  return `${styleText(style, line, { validateStream: false })}${text.slice(line.length)}`;
}
