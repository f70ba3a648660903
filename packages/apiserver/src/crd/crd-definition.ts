import type { UntypedObject } from '@kctl/apimachinery';
import { structuralSchema } from '@kctl/cel';
import {
  at,
  compileSchema,
  crdGroup,
  crdStorageKey,
  crdStorageVersion,
  crdVersions,
  isObject,
  objectOf,
  readNames,
  readScalePaths,
  stringOf,
  type JsonObject,
  type Schema,
} from '@kctl/crd/engine';
import { createCustomResource, type CustomResourceFacts } from './custom-resource.js';
import { conversionCallerOf } from './conversion/webhook-conversion.js';
import type { WebhookCaller } from '../webhooks/webhook-caller.js';
import type { ResourceDefinition } from '../registry/resource.js';
import { customColumns } from '../table/custom-columns.js';

function deprecationOf(version: JsonObject, apiVersion: string, kind: string): string | undefined {
  if (version['deprecated'] !== true) return undefined;
  const text = stringOf(version['deprecationWarning']);
  return text === '' ? `${apiVersion} ${kind} is deprecated` : text;
}

/**
 * The served versions of a CustomResourceDefinition as definitions. Names are the accepted ones where the naming
 * controller has been, else those of the spec. Without a caller, conversion webhooks are not called.
 */
export function definitionsOfCrd(crd: UntypedObject, caller?: WebhookCaller): ResourceDefinition[] {
  const group = crdGroup(crd);
  const accepted = at(crd, 'status', 'acceptedNames');
  const spec = readNames(at(crd, 'spec', 'names'));
  const names = isObject(accepted) && stringOf(accepted['plural']) !== '' ? readNames(accepted) : spec;
  const storageName = crdStorageVersion(crd);
  const storageApiVersion = `${group}/${storageName}`;
  const isOpen = at(crd, 'spec', 'preserveUnknownFields') === true;
  const compile = (version: JsonObject): Schema => {
    const source = objectOf(at(version, 'schema', 'openAPIV3Schema'));
    return compileSchema(isOpen ? { ...source, 'x-kubernetes-preserve-unknown-fields': true } : source);
  };
  const schemas = new Map<string, Schema>(
    crdVersions(crd).map((version) => [`${group}/${stringOf(version['name'])}`, compile(version)]),
  );
  const storageSchema = schemas.get(storageApiVersion) ?? compile({});
  const converter = conversionCallerOf(crd, caller, new Set(schemas.keys()));
  return crdVersions(crd)
    .filter((version) => version['served'] === true)
    .map((version) => {
      const name = stringOf(version['name']);
      const apiVersion = `${group}/${name}`;
      const facts: CustomResourceFacts = {
        group,
        version: name,
        apiVersion,
        names: { ...names, kind: spec.kind, plural: spec.plural },
        namespaced: at(crd, 'spec', 'scope') === 'Namespaced',
        storageKey: crdStorageKey(crd),
        storageApiVersion,
        schema: schemas.get(apiVersion) ?? storageSchema,
        structural: structuralSchema(objectOf(at(version, 'schema', 'openAPIV3Schema'))),
        storageSchema,
        schemas,
        converter,
        hasStatus: isObject(at(version, 'subresources', 'status')),
        scale: readScalePaths(at(version, 'subresources', 'scale')),
        selectableFields: version['selectableFields'],
        deprecationWarning: deprecationOf(version, apiVersion, spec.kind),
        table: customColumns(version['additionalPrinterColumns']),
      };
      return createCustomResource(facts);
    });
}
