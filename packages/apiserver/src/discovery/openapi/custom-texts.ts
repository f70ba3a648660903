/** Common parts of every custom resource's documents, from the recorded document of a sample. */
import { arrayOf, at, objectOf, stringOf, type JsonObject } from '@kctl/crd/internal/engine';

/** A parameter in the path or the query of a request. */
export interface Parameter {
  readonly in: string;
  readonly type: string;
  readonly description: string;
}

/** The words of a server for custom resources. */
export interface CustomTexts {
  /** Schemas that documents share, by name. */
  readonly schemas: JsonObject;
  /** A parameter of requests about a kind; some read otherwise for one method. @throws RangeError for an unknown name */
  parameter(name: string, request: { readonly kind: string; readonly method: string }): Parameter;
  /** Properties of every object. */
  readonly typeMeta: JsonObject;
  /** Properties of an object inside of an object. */
  readonly embeddedTypeMeta: JsonObject;
  readonly metadata: string;
  readonly listMetadata: string;
  /** The description of the items of a list. */
  listItems(plural: string): string;
}

const model = 'test.kctl.record.v1.Sample';

/** Reads the descriptions from the document of the resource `samples` and its kind `Sample`. */
export function readCustomTexts(sample: JsonObject): CustomTexts {
  const schemas = objectOf(at(sample, 'components', 'schemas'));
  const { apiVersion, kind, metadata, embedded } = objectOf(at(schemas, model, 'properties'));
  const list = objectOf(at(schemas, `${model}List`, 'properties'));
  const own = objectOf(at(embedded, 'properties'));
  const parameters = new Map<string, Parameter>();
  const add = (method: string, recorded: unknown): void => {
    for (const parameter of arrayOf(recorded)) {
      const { name, in: place, description, schema } = objectOf(parameter);
      const type = stringOf(objectOf(schema)['type']);
      parameters.set(`${method} ${stringOf(name)}`, {
        in: stringOf(place),
        type,
        description: stringOf(description),
      });
    }
  };
  for (const item of Object.values(objectOf(sample['paths'])))
    for (const [name, value] of Object.entries(objectOf(item)))
      if (name === 'parameters') add('', value);
      else add(name, objectOf(value)['parameters']);
  return {
    schemas: Object.fromEntries(Object.entries(schemas).filter(([name]) => name.startsWith('io.k8s.'))),
    parameter(name, request) {
      const found = parameters.get(`${request.method} ${name}`) ?? parameters.get(` ${name}`);
      if (found === undefined) throw new RangeError(`OpenAPI: there is no parameter ${JSON.stringify(name)}`);
      return { ...found, description: found.description.replace('Sample', request.kind) };
    },
    typeMeta: { apiVersion, kind },
    embeddedTypeMeta: { apiVersion: own['apiVersion'], kind: own['kind'] },
    metadata: stringOf(at(metadata, 'description')),
    listMetadata: stringOf(at(list['metadata'], 'description')),
    listItems: (plural) => stringOf(at(list['items'], 'description')).replace('samples', plural),
  };
}
