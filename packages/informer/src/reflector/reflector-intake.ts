import type { Status } from '@kctl/apimachinery';
import type { Slicer } from '@kctl/delivery';
import type { FrameKind } from '../decoders/decoder.js';

/** What a store threw. */
export interface StoreRefusal {
  readonly error: unknown;
}

/** What a reflector reads into. */
export interface ReflectorIntake<Raw> {
  /** The version of the last live event or bookmark; '' when there was none since the last commit. */
  readonly resourceVersion: string;
  /** What the last ERROR event said. */
  readonly status: Status | undefined;
  /** Whether the last list had items of which is not known what they are. */
  readonly isIncomplete: boolean;
  /** How many objects of another kind, or without a name, there were since the last call, if there were no others; else 0. */
  takeRefused(): number;
  /** How many objects the replacement in the making holds. */
  readonly replacementSize: number;
  /** Begins a replacement; one that was begun is forgotten. */
  begin(): void;
  abandon(): void;
  /** One item of a list. */
  listItem(raw: Raw): void;
  /** One frame before the initial events have ended. */
  initialFrame(raw: Raw): FrameKind;
  /** One frame of the live watch. */
  liveFrame(raw: Raw): FrameKind;
  /** The replacement becomes what there is. Returns what the store threw, where it has not taken it. */
  commit(resourceVersion: string, slicer: Slicer, isEnded: () => boolean): Promise<StoreRefusal | undefined>;
}
