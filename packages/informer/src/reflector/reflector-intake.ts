import type { Status } from '@kctl/apimachinery';
import type { Slicer } from '@kctl/wait/internal';
import type { FrameKind } from '../decoders/decoder.js';

/** Error of a store. */
export interface StoreRefusal {
  readonly error: unknown;
}

/** Destination of a reflector's reads. */
export interface ReflectorIntake<Raw> {
  /** The version of the last live event or bookmark; '' when there was none since the last commit. */
  readonly resourceVersion: string;
  /** The status of the last ERROR event. */
  readonly status: Status | undefined;
  /** Whether the last list contained undecodable items. */
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
  /** The replacement becomes the content of the store. Returns the error of the store, if it has not accepted it. */
  commit(resourceVersion: string, slicer: Slicer, isEnded: () => boolean): Promise<StoreRefusal | undefined>;
}
