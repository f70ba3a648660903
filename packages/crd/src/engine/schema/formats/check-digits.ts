/** White space as Go's regular expressions have it, and hyphens. */
const separators = /[\t\n\f\r -]+/g;

/** An ISBN of ten digits, of which the last may be an X. */
export function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(separators, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = Array.from(digits, (digit, index) => (index + 1) * (digit === 'X' ? 10 : Number(digit)));
  return sum.reduce((total, each) => total + each, 0) % 11 === 0;
}

/** An ISBN of thirteen digits. */
export function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(separators, '');
  if (!/^\d{13}$/.test(digits)) return false;
  const sum = Array.from(digits, (digit, index) => Number(digit) * (index % 2 === 0 ? 1 : 3));
  return sum.reduce((total, each) => total + each, 0) % 10 === 0;
}

const cards = [
  '4\\d{12}(?:\\d{3})?',
  '5[1-5]\\d{14}',
  '6(?:011|5\\d\\d)\\d{12}',
  '3[47]\\d{13}',
  '3(?:0[0-5]|[68]\\d)\\d{11}',
  '(?:2131|1800|35\\d{3})\\d{11}',
];
const card = new RegExp(`^(?:${cards.join('|')})$`);

/** A number of a known card issuer with a fitting check digit; whatever stands between the digits is passed over. */
export function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/[^0-9]+/g, '');
  if (!card.test(digits)) return false;
  const sum = Array.from(digits)
    .reverse()
    .map((digit, index) => Number(digit) * (index % 2 === 0 ? 1 : 2))
    .reduce((total, each) => total + (each > 9 ? each - 9 : each), 0);
  return sum % 10 === 0;
}
