import { builtInProblem } from './find-built-in.js';

/** Names in a project. Either `kind` or `for` is given. */
export interface ProjectNames {
  /** Of the package, the operator and its image. */
  readonly name: string;
  /** Of the API: a domain. With `for`, the prefix of its label and its annotation. */
  readonly group: string;
  /** Of the custom resource. */
  readonly kind?: string;
  /**
   * Of a built-in kind that is reconciled instead of a custom resource: `Kind`, `Kind.group` or `Kind.version.group`, such
   * as `Deployment.apps`.
   */
  readonly for?: string;
}

/** The problems with the names of a project. */
export function namesProblems({ name, group, kind, for: builtIn }: ProjectNames): readonly string[] {
  const both = '"kind" and "for" are both given: give "kind" for a custom resource, "for" for a built-in kind';
  const neither = '"kind" is missing: give the kind of a custom resource, or "for" with a built-in kind';
  return [
    nameProblem('name', name),
    nameProblem('group', group),
    kind === undefined ? undefined : nameProblem('kind', kind),
    builtIn === undefined ? undefined : nameProblem('for', builtIn),
    kind !== undefined && builtIn !== undefined ? both : undefined,
    kind === undefined && builtIn === undefined ? neither : undefined,
  ].filter((problem) => problem !== undefined);
}

/** The problem with a name; undefined if it is valid. */
export function nameProblem(field: keyof ProjectNames, value: string): string | undefined {
  if (field === 'for') {
    const problem = builtInProblem(value);
    return problem === undefined ? undefined : `for ${problem}`;
  }
  const [pattern, expected] = rules[field];
  return pattern.test(value) ? undefined : `${field} ${JSON.stringify(value)} is not valid: expected ${expected}`;
}

const rules: Readonly<Record<Exclude<keyof ProjectNames, 'for'>, readonly [RegExp, string]>> = {
  name: [
    /^[a-z]([a-z0-9-]{0,49}[a-z0-9])?$/,
    'lower case letters, digits and dashes, at most 51, such as "my-operator"',
  ],
  group: [
    /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/,
    'a domain with a dot, such as "example.com"',
  ],
  kind: [/^[A-Z][A-Za-z0-9]{0,62}$/, 'letters and digits that begin with a capital, such as "Website"'],
};

/** `CronJob` → `cron-job`. */
export function fileNameOf(kind: string): string {
  return kind.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
}
