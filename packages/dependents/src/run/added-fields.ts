import type { Kind } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { PlannedField } from '@kctl/controller';
import { isSecret } from '../definition/node.js';
import { ownPrefix } from '../ownership/labels.js';
import { isNamed } from './configuration.js';

type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object that would be created, without its identity and those of this package. Values of Secrets are left out. */
export function addedFields(kind: Kind, configuration: object): PlannedField[] {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...content } = fieldsOf(configuration);
  const added = leaves('', { metadata: ownMetadata(fieldsOf(metadata)), ...content });
  if (!isSecret(kind)) return added.map(([path, after]) => ({ path, after }));
  // The server stores stringData as data.
  return [...new Set(added.map(([path]) => path.replace(/^stringData\./, 'data.')))].map((path) => ({ path }));
}

/** The metadata that the author declared. */
function ownMetadata({
  name: _name,
  namespace: _namespace,
  ownerReferences: _owners,
  labels,
  annotations,
  ...rest
}: Fields): Fields {
  const declared = (all: unknown): Fields =>
    Object.fromEntries(Object.entries(fieldsOf(all)).filter(([name]) => !name.startsWith(ownPrefix)));
  return { labels: declared(labels), annotations: declared(annotations), ...rest };
}

/** Paths in the notation of differences, with their values. */
function leaves(path: string, value: unknown): [path: string, value: unknown][] {
  if (value === undefined || value === null) return [];
  if (isJsonObject(value))
    return Object.entries(value).flatMap(([name, below]) => leaves(path === '' ? name : `${path}.${name}`, below));
  if (isNamed(value) && value.length > 0)
    return value.flatMap((item) => leaves(`${path}[name=${item.name}]`, { ...item, name: undefined }));
  return [[path, value]];
}

function fieldsOf(value: unknown): Fields {
  return isJsonObject(value) ? value : {};
}
