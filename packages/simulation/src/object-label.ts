import { builtInKinds } from '@kctl/apimachinery/kinds/built-in';

/** The groups of the built-in kinds with a plural. */
const groupsOf = Map.groupBy(builtInKinds, ({ plural }) => plural);

/**
 * `widgets demo/a`, as objects are named everywhere in a report, and by which they are told apart. A custom resource with
 * the plural of a built-in kind has its group: `configmaps.example.com demo/a`.
 */
export function objectLabel(
  { group, plural }: { readonly group: string; readonly plural: string },
  key: string,
): string {
  const builtIn = groupsOf.get(plural);
  const isOther = builtIn !== undefined && builtIn.every((kind) => kind.group !== group);
  return `${isOther ? `${plural}.${group}` : plural} ${key}`;
}
