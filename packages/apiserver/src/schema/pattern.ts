const classes: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/**
 * A Go (RE2) regular expression as a JavaScript one; undefined where it is not valid. Covers what differs and occurs:
 * POSIX classes, `\A`, `\z`, leading flags, named groups.
 */
export function compilePattern(pattern: string): RegExp | undefined {
  let flags = '';
  let text = pattern.replace(/^\(\?([ims]+)\)/, (_whole, given: string) => {
    flags = given;
    return '';
  });
  text = text
    .replace(/\[:(\^?)(\w+):\]/g, (whole, _negated: string, name: string) => classes[name] ?? whole)
    .replace(/\\A/g, '^')
    .replace(/\\z/g, '$')
    .replace(/\(\?P</g, '(?<');
  for (const mode of [`${flags}u`, flags]) {
    try {
      return new RegExp(text, mode);
    } catch {
      // With `u` some escapes that RE2 allows are errors: once more without it.
    }
  }
  return undefined;
}
