/** The part of `process.versions` that is used. */
export interface RuntimeVersions {
  readonly node?: string | undefined;
  readonly bun?: string | undefined;
  readonly deno?: string | undefined;
}

/** The oldest Node that the tests run on; the same as `engines` in every manifest. */
const oldest = { major: 22, minor: 19 };

/**
 * Why this Node cannot run the packages; undefined if it can. Bun and Deno report the Node version that they stand for,
 * and are not evaluated by it.
 */
export function unsupportedNode({ node, bun, deno }: RuntimeVersions): string | undefined {
  if (node === undefined || bun !== undefined || deno !== undefined) return undefined;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major > oldest.major || (major === oldest.major && minor >= oldest.minor)) return undefined;
  return `@kctl requires Node.js ${oldest.major}.${oldest.minor} or newer; this is ${node}: install a current release from https://nodejs.org`;
}

/**
 * Checks the version of Node. A package calls it where it is imported, because the failure would otherwise be a missing
 * feature of the old version, somewhere, later. It is a call, since bundlers drop an import that is not used.
 *
 * @throws Error when this Node is too old
 */
export function requireSupportedNode(versions: RuntimeVersions = process.versions): void {
  const problem = unsupportedNode(versions);
  if (problem !== undefined) throw new Error(problem);
}
