import type { UntypedObject } from '@kctl/apimachinery';
import {
  duplicate,
  forbidden,
  invalidValue,
  notSupported,
  notSupportedText,
  required,
  type FieldError,
} from '../values/field-error.js';
import { at, equalJson, isObject, objectOf, objectsOf, stringOf, stringsOf, type JsonObject } from '../values/json.js';
import { dns1035Label, dns1123Subdomain } from '../values/name-rules.js';
import { validateCaBundle, validateWebhookAddress } from './validate-client-config.js';
import { crdVersions, hasCrdCondition } from './crd-names.js';
import { validateSchemaSource } from './structural.js';

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

/** Keys that all versions have in common appear once above the versions in upstream's internal form, and in errors. */
function isHoisted(versions: readonly JsonObject[], key: string): boolean {
  const first = versions[0]?.[key];
  return first !== undefined && versions.every((version) => equalJson(version[key], first));
}

/** The internal form of a version, as upstream prints it in messages. */
function internalVersion(version: JsonObject): JsonObject {
  return {
    Name: stringOf(version['name']),
    Served: version['served'] === true,
    Storage: version['storage'] === true,
    Deprecated: version['deprecated'] === true,
    DeprecationWarning: version['deprecationWarning'] ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  };
}

function checkLabel(value: string, field: string): FieldError[] {
  const messages = value === '' ? [] : dns1035Label(value);
  return messages.length === 0 ? [] : [invalidValue(field, value, messages.join(','))];
}

function checkMixedCase(value: string, field: string): FieldError[] {
  const messages = value === '' ? [] : dns1035Label(value.toLowerCase());
  if (messages.length === 0) return [];
  return [invalidValue(field, value, `may have mixed case, but should otherwise match: ${messages.join(',')}`)];
}

function validateNames(names: JsonObject): FieldError[] {
  const text = (name: string): string => stringOf(names[name]);
  const field = 'spec.names';
  const errors = ['plural', 'singular', 'kind', 'listKind']
    .filter((name) => text(name) === '')
    .map((name) => required(`${field}.${name}`));
  errors.push(
    ...checkLabel(text('plural'), `${field}.plural`),
    ...checkLabel(text('singular'), `${field}.singular`),
    ...checkMixedCase(text('kind'), `${field}.kind`),
    ...checkMixedCase(text('listKind'), `${field}.listKind`),
  );
  for (const list of ['shortNames', 'categories']) {
    for (const [index, name] of stringsOf(names[list]).entries()) {
      errors.push(...checkLabel(name, `${field}.${list}[${index}]`));
    }
  }
  if (text('kind') !== '' && text('kind') === text('listKind')) {
    errors.push(invalidValue(`${field}.listKind`, text('listKind'), 'kind and listKind may not be the same'));
  }
  return errors;
}

function validateColumns(columns: unknown, field: string): FieldError[] {
  return objectsOf(columns).flatMap((column, index) => {
    const path = `${field}[${index}]`;
    const errors: FieldError[] = [];
    const type = stringOf(column['type']);
    const format = stringOf(column['format']);
    const jsonPath = stringOf(column['jsonPath']);
    if (stringOf(column['name']) === '') errors.push(required(`${path}.name`));
    const types = `must be one of ${columnTypes.join(',')}`;
    if (type === '') errors.push(required(`${path}.type`, types));
    else if (!columnTypes.includes(type)) errors.push(invalidValue(`${path}.type`, type, types));
    if (format !== '' && !columnFormats.includes(format)) {
      errors.push(invalidValue(`${path}.format`, format, `must be one of ${columnFormats.join(',')}`));
    }
    if (jsonPath === '') return [...errors, required(`${path}.JSONPath`)];
    // As upstream, the rest of it is not checked. The table ends before a column whose path cannot be parsed.
    if (!jsonPath.startsWith('.'))
      errors.push(invalidValue(`${path}.JSONPath`, jsonPath, 'must be a simple json path starting with .'));
    return errors;
  });
}

function checkScalePath(path: unknown, field: string, roots: readonly string[]): FieldError[] {
  const text = stringOf(path);
  if (text === '') return [required(field)];
  if (!text.startsWith('.')) return [invalidValue(field, text, 'must be a simple json path starting with .')];
  // As upstream, an item of a list may stand there, which the subresource does not find.
  if (roots.some((root) => text.startsWith(`.${root}.`))) return [];
  return [
    invalidValue(
      field,
      text,
      `should be a json path under ${roots.length > 1 ? 'either ' : ''}${roots.map((each) => `.${each}`).join(' or ')}`,
    ),
  ];
}

function validateSubresources(subresources: unknown, field: string): FieldError[] {
  const scale = at(subresources, 'scale');
  if (!isObject(scale)) return [];
  const errors = [
    ...checkScalePath(scale['specReplicasPath'], `${field}.scale.specReplicasPath`, ['spec']),
    ...checkScalePath(scale['statusReplicasPath'], `${field}.scale.statusReplicasPath`, ['status']),
  ];
  if (stringOf(scale['labelSelectorPath']) !== '') {
    errors.push(...checkScalePath(scale['labelSelectorPath'], `${field}.scale.labelSelectorPath`, ['spec', 'status']));
  }
  return errors;
}

/** The schema at a path of property names. */
function schemaAt(schema: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((current, name) => at(current, 'properties', name), schema);
}

function validateSelectable(version: JsonObject, field: string): FieldError[] {
  const schema = at(version, 'schema', 'openAPIV3Schema');
  const seen = new Set<string>();
  const errors = objectsOf(version['selectableFields']).flatMap((selectable, index) => {
    const path = stringOf(selectable['jsonPath']);
    const place = `${field}[${index}].jsonPath`;
    if (path === '') return [required(place)];
    const names = path.replace(/^\./, '').split('.');
    const found = schemaAt(schema, names);
    if (!path.startsWith('.') || !isObject(found)) {
      return [invalidValue(place, path, `is an invalid path: does not refer to a valid field`)];
    }
    const own: FieldError[] = [];
    if (names[0] === 'metadata') own.push(invalidValue(place, path, 'must not point to fields in metadata'));
    if (!['string', 'boolean', 'integer'].includes(stringOf(found['type']))) {
      const text =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      own.push(invalidValue(place, path, text));
    }
    if (seen.has(path)) own.push(duplicate(place, path));
    seen.add(path);
    return own;
  });
  if (seen.size > 8) {
    errors.push({ reason: 'FieldValueTooMany', field, message: `Too many: ${seen.size}: must have at most 8 items` });
  }
  return errors;
}

/** Selectable fields that all versions share. Upstream looks them up in a schema that all share, too. */
function validateSharedSelectable(first: JsonObject, versions: readonly JsonObject[]): FieldError[] {
  const field = 'spec.selectableFields';
  if (objectsOf(first['selectableFields']).length === 0) return [];
  if (isHoisted(versions, 'schema')) return validateSelectable(first, field);
  return [invalidValue(field, '', 'may only be set when validations.schema is included')];
}

/** As Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols, and of the spaces the one of ASCII. */
const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

/** Validates the warning of a deprecated version. */
function validateWarning(version: JsonObject, field: string): FieldError[] {
  const warning = version['deprecationWarning'];
  if (typeof warning !== 'string') return [];
  const refused = (text: string): FieldError => invalidValue(field, warning, text);
  if (version['deprecated'] !== true) return [refused('can only be set for deprecated versions')];
  const errors: FieldError[] = [];
  if (Buffer.byteLength(warning) > 256) errors.push(refused('must be <= 256 characters long'));
  if (warning === '') errors.push(refused('must not be an empty string'));
  const at = unprintable.exec(warning)?.index;
  if (at === undefined) return errors;
  // Go counts bytes.
  const index = Buffer.byteLength(warning.slice(0, at));
  const text = `must only contain printable UTF-8 characters; non-printable character found at index ${index}`;
  return [...errors, refused(text)];
}

function validateVersions(versions: readonly JsonObject[]): FieldError[] {
  const errors: FieldError[] = [];
  const hoisted = (key: string): boolean => isHoisted(versions, key);
  for (const [index, version] of versions.entries()) {
    const field = `spec.versions[${index}]`;
    const name = stringOf(version['name']);
    const messages = dns1035Label(name);
    if (messages.length > 0) errors.push(invalidValue(`${field}.name`, name, messages.join(',')));
    errors.push(...validateWarning(version, `${field}.deprecationWarning`));
    if (!hoisted('schema')) errors.push(...validateVersionSchema(version, `${field}.schema`));
    if (!hoisted('subresources'))
      errors.push(...validateSubresources(version['subresources'], `${field}.subresources`));
    if (!hoisted('additionalPrinterColumns')) {
      errors.push(...validateColumns(version['additionalPrinterColumns'], `${field}.additionalPrinterColumns`));
    }
    if (!hoisted('selectableFields')) {
      // Upstream has moved a schema that all versions share out of them, and then takes them to have none.
      const place = `${field}.selectableFields`;
      const isMoved = hoisted('schema') && objectsOf(version['selectableFields']).length > 0;
      const text = 'may only be set when `version.schema.openAPIV3Schema` is not included';
      errors.push(...(isMoved ? [invalidValue(place, '', text)] : validateSelectable(version, place)));
    }
  }
  return errors;
}

function validateVersionSchema(version: JsonObject, field: string): FieldError[] {
  const schema = at(version, 'schema', 'openAPIV3Schema');
  const hasStatus = isObject(at(version, 'subresources', 'status'));
  return isObject(schema) ? validateSchemaSource(schema, `${field}.openAPIV3Schema`, hasStatus) : [];
}

function validateGroup(group: string): FieldError[] {
  if (group === '') return [required('spec.group')];
  const messages = dns1123Subdomain(group);
  if (messages.length > 0) return [invalidValue('spec.group', group, messages.join(','))];
  return group.includes('.') ? [] : [invalidValue('spec.group', group, 'should be a domain with at least one dot')];
}

/** The certificates that the conversion webhook is trusted by, in base64; '' if unset. */
export function caBundleOf(crd: UntypedObject): string {
  return stringOf(at(crd, 'spec', 'conversion', 'webhook', 'clientConfig', 'caBundle'));
}

function validateReviewVersions(versions: readonly string[], field: string): FieldError[] {
  if (versions.length === 0) return [required(field)];
  const errors = versions.flatMap((version, index) =>
    versions.indexOf(version) < index
      ? [invalidValue(`${field}[${index}]`, version, 'duplicate version')]
      : dns1035Label(version).map((why) => invalidValue(`${field}[${index}]`, version, why)),
  );
  if (versions.includes('v1') || versions.includes('v1beta1')) return errors;
  return [...errors, invalidValue(field, versions, 'must include at least one of v1, v1beta1')];
}

function validateConversion(conversion: JsonObject): FieldError[] {
  const strategy = stringOf(conversion['strategy']);
  const field = 'spec.conversion';
  const clientField = `${field}.webhookClientConfig`;
  const clientConfig = at(conversion, 'webhook', 'clientConfig');
  const versions = stringsOf(at(conversion, 'webhook', 'conversionReviewVersions'));
  if (strategy === '') return [required(`${field}.strategy`)];
  const errors =
    strategy === 'None' || strategy === 'Webhook'
      ? []
      : [notSupported(`${field}.strategy`, strategy, ['None', 'Webhook'])];
  if (strategy !== 'Webhook') {
    const why = 'should not be set when strategy is not set to Webhook';
    if (isObject(clientConfig)) errors.push(forbidden(clientField, why));
    if (versions.length > 0) errors.push(forbidden(`${field}.conversionReviewVersions`, why));
    return errors;
  }
  if (isObject(clientConfig)) {
    errors.push(...validateWebhookAddress(clientConfig, clientField));
  } else {
    errors.push(required(clientField, 'required when strategy is set to Webhook'));
  }
  return [...errors, ...validateReviewVersions(versions, `${field}.conversionReviewVersions`)];
}

const approval = 'api-approved.kubernetes.io';

/** Groups of the Kubernetes community need an approval, or must be marked as unapproved. */
function validateApproval(object: UntypedObject, group: string): FieldError[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const field = `metadata.annotations[${approval}]`;
  const value = object.metadata.annotations?.[approval] ?? '';
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
  const head = `protected groups must have approval annotation ${JSON.stringify(approval)}`;
  if (value === '') return [required(field, `${head}, ${see}`)];
  if (value.startsWith('unapproved') || (URL.canParse(value) && new URL(value).host !== '')) return [];
  return [invalidValue(field, value, `${head} with either a URL or a reason starting with "unapproved", ${see}`)];
}

function validateStoredVersions(object: UntypedObject, versions: readonly JsonObject[]): FieldError[] {
  const stored = stringsOf(at(object, 'status', 'storedVersions'));
  const field = 'status.storedVersions';
  if (stored.length === 0) return [invalidValue(field, null, 'must have at least one stored version')];
  const names = versions.map(({ name }) => stringOf(name));
  return stored.flatMap((name, index) =>
    names.includes(name)
      ? []
      : [
          invalidValue(
            `${field}[${index}]`,
            name,
            `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
          ),
        ],
  );
}

/**
 * Validates a CustomResourceDefinition, including names, versions, structural schemas, defaults, columns and
 * subresources.
 */
export function validateCrd(object: UntypedObject): FieldError[] {
  const spec = objectOf(object['spec']);
  const names = objectOf(spec['names']);
  const group = stringOf(spec['group']);
  const versions = crdVersions(object);
  const errors: FieldError[] = [];
  const name = object.metadata.name ?? '';
  if (name !== '' && name !== `${stringOf(names['plural'])}.${group}`) {
    errors.push(invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  }
  errors.push(...validateGroup(group));
  const scope = stringOf(spec['scope']);
  if (scope === '') errors.push(required('spec.scope'));
  else if (scope !== 'Cluster' && scope !== 'Namespaced') {
    errors.push(notSupportedText('spec.scope', scope, ['Cluster', 'Namespaced']));
  }
  if (spec['preserveUnknownFields'] === true) {
    errors.push(
      invalidValue(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    );
  }
  for (const [index, version] of versions.entries()) {
    if (!isObject(at(version, 'schema', 'openAPIV3Schema'))) {
      errors.push(required(`spec.versions[${index}].schema.openAPIV3Schema`));
    }
  }
  errors.push(...validateVersions(versions));
  const internal = versions.map(internalVersion);
  if (new Set(versions.map((version) => stringOf(version['name']))).size < versions.length) {
    errors.push(invalidValue('spec.versions', internal, 'must contain unique version names'));
  }
  if (versions.filter((version) => version['storage'] === true).length !== 1) {
    errors.push(invalidValue('spec.versions', internal, 'must have exactly one version marked as storage version'));
  }
  errors.push(...validateNames(names));
  const [first] = versions;
  if (first !== undefined) {
    if (isHoisted(versions, 'schema')) errors.push(...validateVersionSchema(first, 'spec.validation'));
    if (isHoisted(versions, 'subresources'))
      errors.push(...validateSubresources(first['subresources'], 'spec.subresources'));
    if (isHoisted(versions, 'additionalPrinterColumns')) {
      errors.push(...validateColumns(first['additionalPrinterColumns'], 'spec.additionalPrinterColumns'));
    }
    if (isHoisted(versions, 'selectableFields')) errors.push(...validateSharedSelectable(first, versions));
  }
  errors.push(
    ...validateConversion(objectOf(spec['conversion'])),
    ...validateStoredVersions(object, versions),
    ...validateApproval(object, group),
  );
  return errors;
}

/** Validates immutable fields, which are always group and plural, and once it is established kind and scope. */
export function validateCrdChange(object: UntypedObject, old: UntypedObject): FieldError[] {
  const fixed = hasCrdCondition(old, 'Established') ? [['scope'], ['names', 'kind']] : [];
  return [
    ...validateBundleChange(object, old),
    ...immutableProblems([...fixed, ['group'], ['names', 'plural']], object, old),
  ];
}

/** An established definition does not get certificates that cannot be read, unless it has such already. */
function validateBundleChange(object: UntypedObject, old: UntypedObject): FieldError[] {
  const field = 'spec.conversion.webhookClientConfig.caBundle';
  const before = caBundleOf(old);
  const isBroken = before !== '' && validateCaBundle(before, field).length > 0;
  return hasCrdCondition(old, 'Established') && !isBroken ? validateCaBundle(caBundleOf(object), field) : [];
}

function immutableProblems(
  paths: readonly (readonly string[])[],
  object: UntypedObject,
  old: UntypedObject,
): FieldError[] {
  return paths.flatMap((path) => {
    const value = at(object, 'spec', ...path);
    return value === at(old, 'spec', ...path)
      ? []
      : [invalidValue(`spec.${path.join('.')}`, value, 'field is immutable')];
  });
}
