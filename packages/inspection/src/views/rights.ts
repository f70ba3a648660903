import { isRunnableError } from '@kctl/manager';
import { describeFailure } from '../recording/describe-failure.js';
import type { RightRow } from '../used-rights.js';
import type { InspectedState } from './state.js';

/** Rights beside what declares them. */
export interface RightsView {
  readonly rows: readonly RightRow[];
  /** Reason why the declared rights are unknown. If set, no right counts as missing or unused. */
  readonly failure: string | undefined;
}

/** Never throws, because a broken runnable is a reason to open an inspection. */
export function rightsView({ manager, rights, recordErrorMessages }: InspectedState): RightsView {
  try {
    return { rows: rights.rows(manager?.accessNeeds() ?? []), failure: undefined };
  } catch (error) {
    const whose = isRunnableError(error) ? ` of ${error.runnable}` : '';
    const why = describeFailure(error, { withMessages: recordErrorMessages });
    const failure = `the declared rights${whose} cannot be read: ${why}`;
    return { rows: rights.rows([]).map((row) => ({ ...row, state: 'used', note: failure })), failure };
  }
}
