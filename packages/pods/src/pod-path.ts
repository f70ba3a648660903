import type { NamespacedKey } from '@kctl/apimachinery';

/** Parameters of a query; a list repeats its name. */
export type QueryFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** The path of a subresource of a pod, with its query. Fields that are undefined or false are left out. */
export function podPath({ namespace, name }: NamespacedKey, subresource: string, fields: QueryFields): string {
  const query = new URLSearchParams();
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'object') for (const each of value) query.append(field, each);
    else query.append(field, String(value));
  }
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/${subresource}`;
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}
