import type { Clock } from '@kctl/wait';
import type { InspectedManager } from '../inspected.js';
import type { LoopLagMeter } from '../loop-lag.js';
import type { Recorder } from '../recording/recorder.js';
import type { CycleStore } from '../recording/store.js';
import type { UsedRights } from '../used-rights.js';

/** Input of the views. */
export interface InspectedState {
  readonly store: CycleStore;
  readonly recorder: Recorder;
  readonly rights: UsedRights;
  readonly clock: Clock;
  readonly budgetBytes: number;
  readonly startedAt: number;
  readonly recordErrorMessages: boolean;
  /** Undefined before the first manager is attached. */
  readonly manager: InspectedManager | undefined;
  /** Undefined while nothing is served. */
  readonly loopLag: LoopLagMeter | undefined;
}
