// The options of exec, attach, portforward and proxy, which are the object of a CONNECT admission.
import type { UntypedObject } from '@kctl/apimachinery';
import {
  arrayOf,
  decodeStruct,
  GoTable,
  jsonText,
  stringOf,
  type JsonObject,
  goQuoted,
} from '@kctl/crd/internal/engine';
import { parseBoolParameter } from '../protocol/go-text.js';
import { badRequest, unclassified } from '../protocol/status.js';
import type { KindRef } from '../resource/resource.js';

const stream = 'stdin,b,eo,1|stdout,b,eo,2|stderr,b,eo,3|tty,b,eo,4|container,s,eo,5';
const proxy = 'path,s,eo,1';
const kinds = [
  ['PodExecOptions', `${stream}|command,[s,,6`],
  ['PodAttachOptions', stream],
  ['PodPortForwardOptions', 'ports,[i,eo,1'],
  ['PodProxyOptions', proxy],
  ['ServiceProxyOptions', proxy],
  ['NodeProxyOptions', proxy],
] as const;
const names: readonly string[] = kinds.map(([name]) => name);
const table = new GoTable(kinds.map(([name, fields]) => `v1.${name}\t${fields}`).join('\n'));

/** Whether a kind is one of options, which have no metadata. */
export function isConnectOptions({ group, kind }: KindRef): boolean {
  return group === '' && names.includes(kind);
}

/** @throws GoDecodeError for a value that does not fit; StatusError 500 for another kind */
export function decodeConnectOptions({ version, kind }: KindRef, value: JsonObject): UntypedObject {
  const given = stringOf(value['kind']) || kind;
  if (given !== kind) throw unclassified(`converting (${version}.${given}) to (core.${kind}): unknown conversion`);
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = value;
  const struct = table.struct(names.indexOf(kind));
  return { ...decodeStruct(fields, struct, []), kind, apiVersion: version, metadata: {} };
}

/** Reads options from a query, for a proxy with the path below it. @throws StatusError 400 for an invalid port */
export function connectOptionsOf(of: KindRef, query: URLSearchParams, path: string): UntypedObject {
  const fields: JsonObject = {};
  const { fields: known } = table.struct(names.indexOf(of.kind));
  for (const [name, { type }] of known) {
    if (name === 'path') fields[name] = path;
    else if (!query.has(name)) continue;
    else if (name === 'ports') fields[name] = query.getAll(name).flatMap((text) => text.split(',').map(portOf));
    else if (type.form === 'list') fields[name] = query.getAll(name);
    else fields[name] = type.goName === 'bool' ? parseBoolParameter(query, name) : query.get(name);
  }
  return decodeConnectOptions(of, fields);
}

/** Returns the equivalent query. */
export function queryOfOptions(options: UntypedObject): URLSearchParams {
  const query = new URLSearchParams();
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...fields } = options;
  for (const [name, value] of Object.entries(fields))
    for (const one of Array.isArray(value) ? arrayOf(value) : [value])
      if (one !== null) query.append(name, typeof one === 'string' ? one : jsonText(one));
  return query;
}

/** Parses like strconv.ParseUint(s, 10, 16). @throws StatusError 400 */
function portOf(text: string): number {
  const fail = (why: string): Error =>
    badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${goQuoted(text)}: ${why}`);
  if (!/^\d+$/.test(text)) throw fail('invalid syntax');
  const port = Number(text);
  if (port > 65_535) throw fail('value out of range');
  return port;
}
