import { isObject, type JsonObject } from '../engine/values/json.js';
import { tightened } from './combine.js';

/** Target of a reference; `again` if the path to it leads through itself. */
export type Resolved =
  | { readonly schema: JsonObject; readonly seen: readonly string[] }
  | { readonly recursive: string }
  | { readonly missing: string };

function follow(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  return reference
    .slice(1)
    .split('/')
    .filter((step) => step !== '')
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((node, step) => (isObject(node) && Object.hasOwn(node, step) ? node[step] : undefined), root);
}

/** A node without its `$ref`: what it leads to, with what stands beside it on top. */
export function resolveReference(node: JsonObject, root: JsonObject, seen: readonly string[]): Resolved {
  let schema = node;
  let path = seen;
  for (;;) {
    const { $ref: reference, ...beside } = schema;
    if (typeof reference !== 'string') return { schema, seen: path };
    if (path.includes(reference)) return { recursive: reference };
    const target = follow(root, reference);
    if (!isObject(target)) return { missing: reference };
    path = [...path, reference];
    schema = { ...target, ...beside, ...tightened(target, beside) };
  }
}
