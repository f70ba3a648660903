import type { UntypedObject } from '@kctl/apimachinery';
import {
  forbidden,
  notSupported,
  required,
  tooLong,
  type FieldError,
  type JsonObject,
  goQuoted,
  notSupportedText,
  isGoPrintable,
} from '@kctl/crd/internal/engine';
import { badRequest, invalidOptions, strictDecodingError } from '../protocol/status.js';
import type { ResourceCall } from './call.js';
import type { QueryOf, writeParameters } from './parameters.js';

/** Handling of fields of a body that are unknown or occur twice. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** Parameters of a write. */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  /** Name of the writer, from the parameter, else the User-Agent up to its first slash. */
  readonly fieldManager: string;
}

/** dryRun parameters. @returns whether it is a dry run, or what is wrong */
export function checkDryRun(values: readonly string[]): FieldError[] {
  const isKnown = values.every((value) => value === 'All');
  return isKnown ? [] : [notSupported('dryRun', values, ['All'])];
}

function managerErrors(query: QueryOf<typeof writeParameters>): FieldError[] {
  const manager = query.get('fieldManager') ?? '';
  const errors = Buffer.byteLength(manager) > 128 ? [tooLong('fieldManager', 128)] : [];
  return [...errors, ...unprintable(manager)];
}

/** Characters that the messages about one name of a manager may come to. */
const messageBudget = 262_144;

/** An error for each character that Go does not print, as upstream; not all of them for a name of kilobytes. */
function unprintable(manager: string): FieldError[] {
  const quoted = goQuoted(manager);
  const most = Math.max(1, Math.floor(messageBudget / quoted.length));
  const errors: FieldError[] = [];
  let position = 0;
  for (const character of manager) {
    if (errors.length === most) break;
    if (!isGoPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      const message = `Invalid value: ${quoted}: invalid character U+${code} (at position ${position})`;
      errors.push({ reason: 'FieldValueInvalid', field: 'fieldManager', message });
    }
    position += Buffer.byteLength(character);
  }
  return errors;
}

/** Parameters of a create, update or patch. @throws StatusError 422 about `kind` */
export function parseWriteOptions(
  call: ResourceCall,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
): WriteOptions {
  const query: QueryOf<typeof writeParameters> = call.query;
  const errors: FieldError[] = [];
  const isApply = call.request.header('content-type')?.startsWith('application/apply-patch') ?? false;
  if (kind === 'PatchOptions') {
    if (isApply && (query.get('fieldManager') ?? '') === '')
      errors.push(required('fieldManager', 'is required for apply patch'));
    if (!isApply && query.get('force') !== null)
      errors.push(forbidden('force', 'may not be specified for non-apply patch'));
  }
  errors.push(...managerErrors(query));
  const dryRun = query.getAll('dryRun');
  errors.push(...checkDryRun(dryRun));
  const fieldValidation = query.get('fieldValidation') ?? '';
  if (fieldValidation !== '' && !isFieldValidation(fieldValidation))
    errors.push(notSupportedText('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']));
  if (errors.length > 0) throw invalidOptions(kind, errors);
  return {
    dryRun: dryRun.includes('All'),
    fieldValidation: isFieldValidation(fieldValidation) ? fieldValidation : 'Warn',
    fieldManager: query.get('fieldManager') || managerOf(call.request.header('user-agent')),
  };
}

/**
 * The options of a write as admission shows them, with those that the client has given. A patch has those of the
 * operation that it performs.
 */
export function admissionOptions(
  { query }: { readonly query: QueryOf<typeof writeParameters> },
  kind: 'CreateOptions' | 'UpdateOptions',
): JsonObject {
  const dryRun = query.getAll('dryRun');
  const text = (name: 'fieldManager' | 'fieldValidation'): JsonObject => {
    const value = query.get(name) ?? '';
    return value === '' ? {} : { [name]: value };
  };
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun.length > 0 && { dryRun }),
    ...text('fieldManager'),
    ...text('fieldValidation'),
  };
}

function isFieldValidation(text: string): text is FieldValidation {
  return text === 'Ignore' || text === 'Warn' || text === 'Strict';
}

/** Mirrors `managerOrUserAgent`: the first part of the User-Agent, at most 128 printable bytes. */
export function managerOf(userAgent: string | undefined): string {
  const prefix =
    userAgent
      ?.split('/')[0]
      ?.replaceAll(/[^\x20-\x7e]/g, '')
      .slice(0, 128) ?? '';
  return prefix === '' ? 'unknown' : prefix;
}

/**
 * Refuses unknown and duplicate fields, reports them as warnings, or ignores them. @throws StatusError 400 in Strict
 * mode
 */
export function reportProblems(
  call: ResourceCall,
  problems: readonly string[],
  mode: FieldValidation,
  given?: UntypedObject,
): void {
  if (problems.length === 0 || mode === 'Ignore') return;
  const { isCustom, kind, version } = call.definition;
  // As upstream, the message for a custom resource of another kind names that kind.
  if (mode === 'Strict')
    throw strictDecodingError({ kind: (isCustom ? given?.kind : undefined) ?? kind, version }, problems);
  call.warnings.push(...problems.flatMap(asWarnings));
}

/** Duplicate keys of a configuration that is applied, as upstream reports them. @throws StatusError 400 in Strict mode */
export function reportDuplicates(call: ResourceCall, duplicates: readonly string[], mode: FieldValidation): void {
  if (duplicates.length === 0 || mode === 'Ignore') return;
  if (mode === 'Strict')
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${duplicates.join(', ')}`);
  call.warnings.push(...duplicates.flatMap(asWarnings));
}

/** One warning for each line of an error about YAML, without its heading. */
function asWarnings(problem: string): readonly string[] {
  const [heading, ...lines] = problem.split('\n');
  return heading === 'yaml: unmarshal errors:' ? lines.map((line) => line.trim()) : [problem];
}
