import { bodyStruct, builtinKinds } from '../resource/builtin-table.js';
import type { GoField, GoStruct, GoType } from '@kctl/crd/internal/engine';

/** Types that every group version has, whatever apiVersion they come under. */
const metaTypes = new Set([
  ...['DeleteOptions', 'CreateOptions', 'UpdateOptions', 'PatchOptions', 'GetOptions', 'ListOptions'],
  ...['Status', 'PartialObjectMetadata', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList'],
]);

/** Bodies of subresources, and aggregated discovery. */
const bodies = new Map([
  ['autoscaling/v1 Scale', 'Scale'],
  ['policy/v1 Eviction', 'Eviction'],
  ['authentication.k8s.io/v1 TokenRequest', 'TokenRequest'],
  ['apidiscovery.k8s.io/v2 APIGroupDiscoveryList', 'APIGroupDiscoveryList'],
]);

const listSuffix = 'List';

function structType(struct: GoStruct): GoType {
  return { pointer: false, form: 'struct', struct, goName: struct.goName };
}

function field(name: string, type: GoType, number: number): GoField {
  return { name, type, omitEmpty: false, omitZero: false, optional: false, protobuf: [number] };
}

/** The list of a kind. All lists have the same two fields. */
function listStruct(item: GoStruct): GoStruct {
  const items: GoType = { pointer: false, form: 'list', of: structType(item), goName: `[]${item.goName}` };
  const fields = [field('metadata', structType(bodyStruct('ListMeta')), 1), field('items', items, 2)];
  return { goName: `${item.goName}${listSuffix}`, fields: new Map(fields.map((each) => [each.name, each])) };
}

let builtins: ReadonlyMap<string, GoStruct> | undefined;
const lists = new WeakMap<GoStruct, GoStruct>();

function builtinStruct(apiVersion: string, kind: string): GoStruct | undefined {
  builtins ??= new Map(
    builtinKinds().map(({ group, version, kind: name, struct }) => [
      `${group === '' ? '' : `${group}/`}${version} ${name}`,
      struct,
    ]),
  );
  const name = `${apiVersion} ${kind}`;
  const body = bodies.get(name);
  return body === undefined ? builtins.get(name) : bodyStruct(body);
}

/**
 * The Go type of a kind that has a form in protobuf, such as built-in kinds, their lists, and the types of the API
 * machinery.
 */
export function structOfKind(apiVersion: string, kind: string): GoStruct | undefined {
  if (metaTypes.has(kind)) return bodyStruct(kind);
  const own = builtinStruct(apiVersion, kind);
  if (own !== undefined || !kind.endsWith(listSuffix)) return own;
  const itemKind = kind.slice(0, -listSuffix.length);
  const item = itemKind === 'PartialObjectMetadata' ? bodyStruct(itemKind) : builtinStruct(apiVersion, itemKind);
  if (item === undefined) return undefined;
  let list = lists.get(item);
  if (list === undefined) {
    list = listStruct(item);
    lists.set(item, list);
  }
  return list;
}
