import type { UntypedObject } from '@kctl/apimachinery';
import { requireOptions, shownType, type OptionNames } from '@kctl/options';
import { crdGroup, crdStorageVersion, crdVersions } from '../engine/definition/crd-names.js';
import {
  at,
  equalJson,
  isObject,
  objectOf,
  objectsOf,
  stringOf,
  stringsOf,
  type JsonObject,
} from '../engine/values/json.js';
import { formatFieldErrors } from '../engine/values/field-error.js';
import { LocalValidator } from '../resource/validation.js';
import type { ChangeClass, CrdChange, Note } from './changes.js';
import { diffSchemas } from './schema-diff.js';

/** A stored object that a change of its definition meets. */
export interface AffectedObject {
  readonly namespace: string;
  readonly name: string;
  /** Why the new schema rejects it; '' if it does not. An update that does not change the field is still accepted. */
  readonly message: string;
  /** Fields that are not in the new schema, so their values are dropped. */
  readonly dropped: readonly string[];
}

/** Options for {@link diffCrd}. */
export interface DiffCrdOptions {
  /** Stored objects, to be looked at with the new schema of their version. */
  readonly objects?: Iterable<object>;
}

const optionNames: OptionNames<DiffCrdOptions> = {
  objects: (name: string, value: unknown) =>
    typeof value === 'object' && value !== null && Symbol.iterator in value
      ? undefined
      : `${name} is ${shownType(value)}: expected an array of objects, or another iterable`,
};

/** The differences between two CustomResourceDefinitions. */
export interface CrdDiff {
  /** Changes of the definition, then of versions in the order of the new one, then of fields. */
  readonly changes: readonly CrdChange[];
  /** The worst class among the changes; `compatible` if there are no changes. */
  readonly verdict: ChangeClass;
  /** Of the objects given, those that are refused or lose data. */
  readonly affected: readonly AffectedObject[];
}

function versionsByName(crd: UntypedObject): Map<string, JsonObject> {
  return new Map(crdVersions(crd).map((version) => [stringOf(version['name']), version]));
}

function crdOf(source: object): UntypedObject {
  if (!isObject(source) || source['kind'] !== 'CustomResourceDefinition') {
    throw new TypeError(
      'diffCrd: expected a CustomResourceDefinition of apiextensions.k8s.io/v1, such as resource.manifest',
    );
  }
  return { metadata: {}, ...source };
}

function diffDefinition(old: UntypedObject, next: UntypedObject, note: Note): void {
  if (crdGroup(old) !== crdGroup(next)) note('breaking', '', `group ${crdGroup(old)} becomes ${crdGroup(next)}`);
  for (const path of [['scope'], ['names', 'kind'], ['names', 'plural']]) {
    const [before, after] = [at(old, 'spec', ...path), at(next, 'spec', ...path)];
    if (!equalJson(before, after)) {
      note('breaking', '', `${path.join('.')} ${JSON.stringify(before)} becomes ${JSON.stringify(after)}`);
    }
  }
  const stored = new Set([...stringsOf(at(old, 'status', 'storedVersions')), crdStorageVersion(old)]);
  const later = versionsByName(next);
  for (const name of versionsByName(old).keys()) {
    if (later.has(name)) continue;
    const why = stored.has(name)
      ? `version ${name} is removed, and objects may be stored in it: migrate them, then remove it from status.storedVersions`
      : `version ${name} is removed: clients of it fail`;
    note('breaking', '', why);
  }
  if (crdStorageVersion(old) !== crdStorageVersion(next)) {
    note('compatible', '', `storage version ${crdStorageVersion(old)} becomes ${crdStorageVersion(next)}`);
  }
  const [before, after] = [conversionOf(old), conversionOf(next)];
  if (before === after) return;
  const why = 'objects in other versions are those that are stored, with another apiVersion';
  if (after === 'None') note('breaking', '', `conversion ${before} becomes None: ${why}`);
  else note('compatible', '', `conversion ${before} becomes ${after}`);
}

function conversionOf(crd: UntypedObject): string {
  return stringOf(at(crd, 'spec', 'conversion', 'strategy')) || 'None';
}

function pathsOf(version: JsonObject): string[] {
  return objectsOf(version['selectableFields']).map(({ jsonPath }) => stringOf(jsonPath));
}

function diffVersion(old: JsonObject, next: JsonObject, note: Note): void {
  if (old['served'] === true && next['served'] !== true) note('breaking', '', 'the version is no longer served');
  if (old['served'] !== true && next['served'] === true) note('compatible', '', 'the version is served');
  if (old['deprecated'] !== true && next['deprecated'] === true) note('compatible', '', 'the version is deprecated');
  for (const name of ['status', 'scale']) {
    const [before, after] = [at(old, 'subresources', name), at(next, 'subresources', name)];
    if (equalJson(before, after)) continue;
    if (after === undefined) note('breaking', '', `subresource ${name} is removed`);
    else if (name === 'status' && before === undefined)
      note('breaking', '', 'status becomes a subresource: writes of the object no longer change it');
    else
      note(
        before === undefined ? 'compatible' : 'breaking',
        '',
        `subresource ${name} ${before === undefined ? 'is added' : 'changes'}`,
      );
  }
  for (const path of pathsOf(old)) {
    if (!pathsOf(next).includes(path)) note('breaking', '', `selectable field ${path} is removed`);
  }
  const [before, after] = [
    objectOf(at(old, 'schema', 'openAPIV3Schema')),
    objectOf(at(next, 'schema', 'openAPIV3Schema')),
  ];
  diffSchemas(before, after, '', note);
}

function affectedObjects(next: UntypedObject, objects: Iterable<object>): AffectedObject[] {
  const versions = versionsByName(next);
  const group = crdGroup(next);
  const validators = new Map<string, LocalValidator>();
  const validatorOf = (apiVersion: string): LocalValidator | undefined => {
    const name = apiVersion.startsWith(`${group}/`) ? apiVersion.slice(group.length + 1) : '';
    const version = versions.get(name);
    if (version === undefined) return undefined;
    const known = validators.get(name);
    if (known !== undefined) return known;
    const kind = stringOf(at(next, 'spec', 'names', 'kind'));
    const namespaced = at(next, 'spec', 'scope') === 'Namespaced';
    const created = new LocalValidator({ apiVersion, kind, namespaced, version });
    validators.set(name, created);
    return created;
  };
  const affected: AffectedObject[] = [];
  for (const object of objects) {
    const apiVersion = stringOf(at(object, 'apiVersion'));
    const place = {
      namespace: stringOf(at(object, 'metadata', 'namespace')),
      name: stringOf(at(object, 'metadata', 'name')),
    };
    const found = validatorOf(apiVersion)?.validateStored(object);
    if (found === undefined)
      affected.push({ ...place, message: `version ${apiVersion} is no longer defined`, dropped: [] });
    else if (found.errors.length > 0 || found.pruned.length > 0) {
      const message = found.errors.length === 0 ? '' : formatFieldErrors(found.errors);
      affected.push({ ...place, message, dropped: found.pruned });
    }
  }
  return affected;
}

const order: readonly ChangeClass[] = ['compatible', 'narrowing', 'breaking'];

/**
 * Compares two CustomResourceDefinitions and returns, change by change, the effect of an upgrade on stored objects and
 * clients.
 *
 * @param old the definition that is installed; its `status.storedVersions` count.
 * @param next the definition that takes its place, such as `resource.manifest`.
 * @throws TypeError when either is not a CustomResourceDefinition
 *
 * @example
 * ```ts
 * import { defineResource, diffCrd } from '@kctl/crd';
 * import { z } from 'zod';
 *
 * const website = (replicas: z.ZodType) =>
 *   defineResource({ group: 'shop.example.com', kind: 'Website', versions: { v1: { spec: z.object({ replicas }) } } });
 *
 * const { verdict, changes } = diffCrd(website(z.int32()).manifest, website(z.int32().max(10)).manifest);
 * console.log(verdict, changes.map(({ path, reason }) => `${path}: ${reason}`));
 * ```
 */
export function diffCrd(old: object, next: object, options: DiffCrdOptions = {}): CrdDiff {
  requireOptions('diffCrd', options, optionNames);
  const [before, after] = [crdOf(old), crdOf(next)];
  const changes: CrdChange[] = [];
  const noteFor =
    (version: string): Note =>
    (change, path, reason) => {
      changes.push({ change, version, path, reason });
    };
  diffDefinition(before, after, noteFor(''));
  const earlier = versionsByName(before);
  for (const [name, version] of versionsByName(after)) {
    const previous = earlier.get(name);
    if (previous === undefined) noteFor('')('compatible', '', `version ${name} is added`);
    else diffVersion(previous, version, noteFor(name));
  }
  const worst = Math.max(0, ...changes.map(({ change }) => order.indexOf(change)));
  return { changes, verdict: order[worst] ?? 'compatible', affected: affectedObjects(after, options.objects ?? []) };
}
