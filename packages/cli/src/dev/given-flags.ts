/** Whether a flag is among the arguments, with a value or without. */
export function hasFlag(given: readonly string[], flag: string): boolean {
  return given.some((each) => each === flag || each.startsWith(`${flag}=`));
}

/** The value of a flag among the arguments, `--flag value` or `--flag=value`; undefined where it is not given. */
export function flagOf(given: readonly string[], flag: string): string | undefined {
  const at = given.lastIndexOf(flag);
  return (
    given.findLast((each) => each.startsWith(`${flag}=`))?.slice(flag.length + 1) ??
    (at === -1 ? undefined : given[at + 1])
  );
}
