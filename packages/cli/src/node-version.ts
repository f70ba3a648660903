/** The oldest supported Node, per `engines` of every package. */
export const minimumNode = '22.19.0';

/** Below 0 if the first version is older. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [left, right].map((version) => version.split('.').map(Number));
  for (let at = 0; at < 3; at++) {
    const difference = (a?.[at] ?? 0) - (b?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
