/** A document as its leaves by path; empty objects and lists are leaves, too. */
export function flatten(value: unknown, path = '', leaves = new Map<string, unknown>()): Map<string, unknown> {
  if (typeof value !== 'object' || value === null) return leaves.set(path, value);
  const entries = Object.entries(value);
  if (entries.length === 0) return leaves.set(path, Array.isArray(value) ? '[]' : '{}');
  for (const [key, entry] of entries)
    flatten(entry, Array.isArray(value) ? `${path}[${key}]` : `${path}/${key}`, leaves);
  return leaves;
}

/** A leaf in which two documents differ; undefined where a document has none. */
export interface LeafDifference {
  readonly path: string;
  readonly ours: unknown;
  readonly theirs: unknown;
}

export function differingLeaves(ours: unknown, theirs: unknown): LeafDifference[] {
  const [mine, other] = [flatten(ours), flatten(theirs)];
  return [...new Set([...mine.keys(), ...other.keys()])]
    .sort()
    .map((path) => ({ path, ours: mine.get(path), theirs: other.get(path) }))
    .filter((leaf) => leaf.ours !== leaf.theirs);
}
