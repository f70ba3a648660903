/** Runs a step of a definition; what it throws becomes a problem. */
export function collect<T>(problems: string[], step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    problems.push(textOf(error));
    return undefined;
  }
}

function textOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return `a step of the definition threw something of type ${typeof error}`;
  }
}
