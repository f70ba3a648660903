import type { DeepReadonly } from '@kctl/apimachinery';
import type { CustomResourceDefinition, JSONSchemaProps } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';

type Schema = DeepReadonly<JSONSchemaProps>;

/**
 * Returns a warning about a definition whose versions have different fields and whose conversion is `None`: the API
 * server changes `apiVersion` alone, and prunes the fields that the other version does not have. Undefined if nothing is
 * lost.
 */
export function lostFieldsWarning({ metadata, spec }: DeepReadonly<CustomResourceDefinition>): string | undefined {
  if (spec?.conversion?.strategy === 'Webhook') return undefined;
  const versions = (spec?.versions ?? []).filter(({ served, storage }) => served || storage);
  for (const from of versions)
    for (const to of versions) {
      const lost = lostFields(from.schema?.openAPIV3Schema, to.schema?.openAPIV3Schema, '');
      if (from !== to && lost.length > 0)
        return (
          `CustomResourceDefinition ${metadata.name ?? ''} has no conversion webhook: ` +
          `an object of ${from.name} loses ${lost.slice(0, 3).join(', ')}${lost.length > 3 ? ', …' : ''} in ${to.name}: ` +
          `serve a converter and install the definition by installConversion`
        );
    }
  return undefined;
}

/** Paths of the fields of one schema that another one does not have and prunes. */
function lostFields(from: Schema | undefined, to: Schema | undefined, path: string): readonly string[] {
  if (from === undefined || to === undefined || to['x-kubernetes-preserve-unknown-fields'] === true) return [];
  const lost: string[] = [];
  for (const [name, schema] of Object.entries(from.properties ?? {})) {
    const field = path === '' ? name : `${path}.${name}`;
    const other = to.properties?.[name] ?? valueSchema(to.additionalProperties);
    if (other !== undefined) lost.push(...lostFields(schema, other, field));
    else if (to.additionalProperties !== true) lost.push(field);
  }
  const [items, otherItems] = [from.items, to.items].map(valueSchema);
  lost.push(...lostFields(items, otherItems, `${path}[]`));
  const [values, otherValues] = [from.additionalProperties, to.additionalProperties].map(valueSchema);
  return [...lost, ...lostFields(values, otherValues, `${path}.*`)];
}

/** Whether the value is one schema, not a boolean or a list. */
function isSchema(value: Schema['items'] | Schema['additionalProperties']): value is Schema {
  return typeof value === 'object' && !Array.isArray(value);
}

function valueSchema(value: Schema['items'] | Schema['additionalProperties']): Schema | undefined {
  return isSchema(value) ? value : undefined;
}
