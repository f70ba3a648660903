/** The oldest Node that the tests run on; the same as `engines` in the manifest. */
const oldest = { major: 22, minor: 19 };

/**
 * Checks the version of Node, as @kctl/options does for the packages that depend on it. It is a call, since bundlers drop
 * an import that is not used.
 *
 * @throws Error when this Node is too old
 */
export function requireSupportedNode(versions: Readonly<Record<string, string | undefined>> = process.versions): void {
  const problem = unsupportedNode(versions);
  if (problem !== undefined) throw new Error(problem);
}

/** Why this Node cannot run the package; undefined if it can. Bun and Deno report the Node that they stand for. */
export function unsupportedNode({ node, bun, deno }: Readonly<Record<string, string | undefined>>): string | undefined {
  if (node === undefined || bun !== undefined || deno !== undefined) return undefined;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major > oldest.major || (major === oldest.major && minor >= oldest.minor)) return undefined;
  return `@kctl requires Node.js ${oldest.major}.${oldest.minor} or newer; this is ${node}: install a current release from https://nodejs.org`;
}
