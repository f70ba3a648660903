import { findCondition, setCondition, type Condition, type DeepReadonly, type KubeObject } from '@kctl/apimachinery';

/** What is observed of an object. */
export interface Observation extends Pick<Condition, 'type' | 'reason' | 'message'> {
  /** Undefined: not known. */
  readonly status: boolean | undefined;
}

/** Returns the condition of an object, which keeps the time of the last transition while its status is the same. */
export function conditionOf(
  object: DeepReadonly<KubeObject> & { readonly status?: unknown },
  { status, ...observed }: Observation,
  now: number,
): Condition {
  const { generation } = object.metadata;
  const present = findCondition(conditionsOf(object.status), observed.type);
  const conditions = present === undefined ? [] : [{ ...present }];
  const update = {
    ...observed,
    status: status === undefined ? ('Unknown' as const) : status ? ('True' as const) : ('False' as const),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  setCondition(conditions, update, { now });
  const [condition = { ...update, lastTransitionTime: '' }] = conditions;
  return condition;
}

function conditionsOf(status: unknown): readonly Condition[] {
  if (typeof status !== 'object' || status === null) return [];
  const conditions: unknown = Reflect.get(status, 'conditions');
  return Array.isArray(conditions) ? conditions.filter(isCondition) : [];
}

function isCondition(value: unknown): value is Condition {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string';
}
