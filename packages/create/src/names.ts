/** Names in a project. */
export interface ProjectNames {
  /** Of the package, the operator and its image. */
  readonly name: string;
  /** Of the API: a domain. */
  readonly group: string;
  /** Of the custom resource. */
  readonly kind: string;
}

/** The problem with a name; undefined if it is valid. */
export function nameProblem(field: keyof ProjectNames, value: string): string | undefined {
  const [pattern, expected] = rules[field];
  return pattern.test(value) ? undefined : `${field} ${JSON.stringify(value)} is not valid: expected ${expected}`;
}

const rules: Readonly<Record<keyof ProjectNames, readonly [RegExp, string]>> = {
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
