/** From this length on others get their turn between the steps of a write: 1 MB takes about 50 ms in each. */
const longText = 64 * 1024;

/** Whether a body is so long that the steps of its write let others have their turn in between. */
export function isLongBody({ length }: { readonly length: number }): boolean {
  return length >= longText;
}
