/** Letters and digits for upstream's names, without vowels and characters that look alike. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Five characters that make a name unique. `random` is uniform in [0, 1). */
export function nameSuffix(random: () => number): string {
  let suffix = '';
  for (let index = 0; index < 5; index++) suffix += alphabet.charAt(Math.floor(random() * alphabet.length));
  return suffix;
}
