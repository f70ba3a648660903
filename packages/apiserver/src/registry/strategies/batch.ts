import type { UntypedObject } from '@kctl/apimachinery';
import {
  at,
  ensureObject,
  equalSemantic,
  invalidValue,
  notSupported,
  numberOf,
  objectOf,
  required,
  setDefault,
  stringMapOf,
  stringOf,
  type FieldError,
  type JsonObject,
} from '@kctl/crd/internal/engine';
import type { KindStrategy } from '../kind-strategy.js';
import { selectorMatches } from '../../resource/label-selector.js';
import { nonNegative, oneOf, validatePodTemplate } from './pod-spec.js';

const nameLabels = ['job-name', 'batch.kubernetes.io/job-name'];
const uidLabels = ['controller-uid', 'batch.kubernetes.io/controller-uid'];

/** A Job without a manual selector selects its pods by its own uid. */
function generateSelector(object: UntypedObject): void {
  const spec = ensureObject(object, 'spec');
  if (spec['manualSelector'] === true) return;
  const labels = ensureObject(ensureObject(ensureObject(spec, 'template'), 'metadata'), 'labels');
  for (const label of nameLabels) setDefault(labels, label, object.metadata.name ?? '');
  for (const label of uidLabels) setDefault(labels, label, object.metadata.uid ?? '');
  const selected = ensureObject(ensureObject(spec, 'selector'), 'matchLabels');
  setDefault(selected, 'batch.kubernetes.io/controller-uid', object.metadata.uid ?? '');
  object.metadata.labels ??= stringMapOf(labels);
}

function validateJobSpec(spec: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ]) {
    errors.push(...nonNegative(spec[name], `${field}.${name}`));
  }
  const mode = spec['completionMode'];
  if (mode !== undefined && mode !== 'NonIndexed' && mode !== 'Indexed') {
    errors.push(notSupported(`${field}.completionMode`, mode, ['NonIndexed', 'Indexed']));
  }
  if (mode === 'Indexed' && spec['completions'] === undefined) {
    errors.push(required(`${field}.completions`, 'when completion mode is Indexed'));
  }
  const template = objectOf(spec['template']);
  errors.push(...validatePodTemplate(template, `${field}.template`));
  const policy = stringOf(at(template, 'spec', 'restartPolicy'));
  const path = `${field}.template.spec.restartPolicy`;
  if (policy === 'Always' || policy === '') errors.push(required(path, 'valid values: "OnFailure", "Never"'));
  else if (policy !== 'OnFailure' && policy !== 'Never')
    errors.push(notSupported(path, policy, ['OnFailure', 'Never']));
  return errors;
}

function validateJob(object: UntypedObject): FieldError[] {
  const spec = objectOf(object['spec']);
  const errors = validateJobSpec(spec, 'spec');
  if (spec['selector'] === undefined) errors.push(required('spec.selector'));
  const labels = at(spec, 'template', 'metadata', 'labels');
  if (!selectorMatches(spec['selector'], labels)) {
    errors.push(
      invalidValue('spec.template.metadata.labels', labels ?? null, '`selector` does not match template `labels`'),
    );
  }
  return errors;
}

/**
 * Whether a Job waits for its first start, in which case the fields of its template that place the pods may still
 * change.
 */
function isSuspended(object: UntypedObject): boolean {
  return at(object, 'spec', 'suspend') === true && at(object, 'status', 'startTime') === undefined;
}

const placement = ['nodeSelector', 'affinity', 'tolerations', 'schedulingGates'];

function frozenTemplate(object: UntypedObject, old: UntypedObject): unknown {
  const template = at(object, 'spec', 'template');
  if (!isSuspended(old)) return template;
  const spec = { ...objectOf(at(template, 'spec')) };
  for (const name of placement) spec[name] = at(old, 'spec', 'template', 'spec', name);
  return { ...objectOf(template), metadata: at(old, 'spec', 'template', 'metadata'), spec };
}

const job: KindStrategy = {
  generation: 'spec',
  prepareForCreate: generateSelector,
  validate: validateJob,
  validateChange(object, old) {
    // Upstream validates a changed Job twice, and reports twice what is wrong with it.
    const errors = validateJob(object);
    const isIndexed = at(old, 'spec', 'completionMode') === 'Indexed';
    const completions = at(object, 'spec', 'completions');
    const isElastic = isIndexed && completions === at(object, 'spec', 'parallelism');
    if (!equalSemantic(completions, at(old, 'spec', 'completions')) && !isElastic) {
      errors.push(invalidValue('spec.completions', completions ?? null, 'field is immutable'));
    }
    for (const name of [
      'selector',
      'template',
      'completionMode',
      'podFailurePolicy',
      'backoffLimitPerIndex',
      'managedBy',
      'successPolicy',
    ]) {
      const value = at(object, 'spec', name);
      const compared = name === 'template' ? frozenTemplate(object, old) : value;
      if (!equalSemantic(compared, at(old, 'spec', name))) {
        errors.push(invalidValue(`spec.${name}`, value ?? null, 'field is immutable'));
      }
    }
    return errors;
  },
  fields: { 'status.successful': (object) => String(numberOf(at(object, 'status', 'succeeded')) ?? 0) },
};

const cronField = /^(\*|[0-9A-Za-z*]+(-[0-9A-Za-z]+)?)(\/\d+)?(,(\*|[0-9A-Za-z*]+(-[0-9A-Za-z]+)?)(\/\d+)?)*$|^\?$/;
const cronMacros = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly|every \d.*)$/;

function isSchedule(text: string): boolean {
  const fields = text.trim().split(/\s+/);
  return cronMacros.test(text) || (fields.length === 5 && fields.every((field) => cronField.test(field)));
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function validateCronJob(object: UntypedObject): FieldError[] {
  const spec = objectOf(object['spec']);
  const errors: FieldError[] = [];
  const schedule = stringOf(spec['schedule']);
  if (schedule === '') errors.push(required('spec.schedule'));
  else if (schedule.includes('TZ')) {
    errors.push(
      invalidValue('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'),
    );
  } else if (!isSchedule(schedule)) {
    const fields = schedule.trim().split(/\s+/);
    const text = `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`;
    errors.push(invalidValue('spec.schedule', schedule, text));
  }
  const zone = spec['timeZone'];
  if (typeof zone === 'string' && !isTimeZone(zone)) {
    errors.push(invalidValue('spec.timeZone', zone, `unknown time zone ${zone}`));
  }
  errors.push(
    ...nonNegative(spec['startingDeadlineSeconds'], 'spec.startingDeadlineSeconds'),
    ...oneOf(spec['concurrencyPolicy'], 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace']),
    ...validateJobSpec(objectOf(at(spec, 'jobTemplate', 'spec')), 'spec.jobTemplate.spec'),
    ...nonNegative(spec['successfulJobsHistoryLimit'], 'spec.successfulJobsHistoryLimit'),
    ...nonNegative(spec['failedJobsHistoryLimit'], 'spec.failedJobsHistoryLimit'),
  );
  const name = object.metadata.name ?? '';
  if (name.length > 52) errors.push(invalidValue('metadata.name', name, 'must be no more than 52 characters'));
  return errors;
}

/** Job and CronJob. */
export const batchStrategies: Readonly<Record<string, KindStrategy>> = {
  'batch/Job': job,
  'batch/CronJob': { generation: 'spec', validate: validateCronJob },
};
