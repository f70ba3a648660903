import type { Failure } from './failure.js';

/** State of the reflector in every phase. */
export interface ReflectorMemory {
  /** The version that the store is at; '' before the first sync. */
  readonly resourceVersion: string;
  /**
   * The store may contain deleted objects, because the last list could not be read as a whole. No watch is opened again
   * after it.
   */
  readonly isIncomplete: boolean;
  /**
   * The server reported that it cannot serve {@link resourceVersion}, so the next sync requests the most recent state.
   */
  readonly isUnavailable: boolean;
  /** The very first list came in pages although any version would do, so the server has no watch cache. */
  readonly pagesForEver: boolean;
  readonly isStreamingUnsupported: boolean;
  /** Streams that ended before their initial events did, since the last that did not. */
  readonly streamCloses: number;
  /** Watches that broke within a second without anything new, since the last list or the last watch that did not. */
  readonly brokenWatches: number;
  readonly backoffStep: number;
  readonly lastBackoffAt: number | undefined;
  /** How many backoffs in a row were for a server that could not be reached, or is overloaded. */
  readonly outageBackoffs: number;
  readonly internalErrorSince: number | undefined;
  readonly troubleSince: number | undefined;
  /** Failures since all was well. */
  readonly attempts: number;
}

/** The memory of a reflector that has done nothing yet. */
export const initialMemory: ReflectorMemory = {
  resourceVersion: '',
  isIncomplete: false,
  isUnavailable: false,
  pagesForEver: false,
  isStreamingUnsupported: false,
  streamCloses: 0,
  brokenWatches: 0,
  backoffStep: 0,
  lastBackoffAt: undefined,
  outageBackoffs: 0,
  internalErrorSince: undefined,
  troubleSince: undefined,
  attempts: 0,
};

/** Position in a list. */
export interface ListStep {
  readonly page: number;
  /** resourceVersion requested for the first page. */
  readonly resourceVersion: string;
  readonly limit: number;
  /** Whether this is the unpaged list after an expired continue token. */
  readonly isFullList: boolean;
  /** The version of the collection that the first page stated. */
  readonly listVersion?: string;
}

/** Phase of a reflector. */
export type ReflectorState =
  | { readonly phase: 'idle'; readonly memory: ReflectorMemory }
  | { readonly phase: 'listing'; readonly memory: ReflectorMemory; readonly step: ListStep }
  /** Reading the initial events of a watch. */
  | { readonly phase: 'streaming'; readonly memory: ReflectorMemory }
  | { readonly phase: 'watching'; readonly memory: ReflectorMemory }
  | {
      readonly phase: 'waiting';
      readonly memory: ReflectorMemory;
      readonly next: 'sync' | 'watch';
      readonly failure: Failure;
    }
  | { readonly phase: 'stopped'; readonly memory: ReflectorMemory; readonly trouble?: Failure };

/** Inputs of a reflector. `now` is monotonic time in ms. */
export type ReflectorInput =
  | { readonly type: 'start' }
  | {
      readonly type: 'page';
      readonly resourceVersion: string;
      readonly continueToken: string;
      /** Whether the list contained undecodable items. */
      readonly isIncomplete?: boolean;
    }
  | { readonly type: 'list-failed'; readonly failure: Failure; readonly now: number }
  | { readonly type: 'opened' }
  | { readonly type: 'initial-end'; readonly resourceVersion: string }
  /** A stream ended without an ERROR event; `failure` describes it for people. */
  | {
      readonly type: 'ended';
      readonly cause: 'closed' | 'broken' | 'idle';
      readonly openMs: number;
      /** The last version that arrived, also in earlier watches. */
      readonly resourceVersion: string;
      readonly failure: Failure;
      readonly now: number;
    }
  /** A watch was refused, or an ERROR event or an undecodable frame ended it. */
  | {
      readonly type: 'watch-failed';
      readonly where: 'open' | 'stream';
      readonly failure: Failure;
      readonly openMs: number;
      /** The last version that arrived, also in earlier watches. */
      readonly resourceVersion: string;
      readonly now: number;
    }
  | { readonly type: 'timer' }
  | { readonly type: 'stop' }
  | { readonly type: 'give-up'; readonly failure: Failure };

/** Commands of the reflector, in this order. At most the last one takes time, and its outcome is the next input. */
export type ReflectorEffect =
  /** Forget a replacement that was begun, and begin one. */
  | { readonly type: 'begin' }
  /** The replacement becomes the store's content. */
  | { readonly type: 'commit'; readonly resourceVersion: string }
  | {
      readonly type: 'list';
      readonly resourceVersion: string;
      /** 0: no limit. */
      readonly limit: number;
      /** '' for the first page. */
      readonly continueToken: string;
    }
  | { readonly type: 'watch'; readonly initial: boolean; readonly resourceVersion: string }
  /** Go on reading the open stream. */
  | { readonly type: 'read' }
  /** Closes the stream and discards the replacement, if there are any. */
  | { readonly type: 'close' }
  /** Something failed; `report`: the watch error handler decides whether to go on. */
  | { readonly type: 'trouble'; readonly failure: Failure; readonly report: boolean }
  | { readonly type: 'streaming-unsupported' }
  | { readonly type: 'sleep'; readonly delayMs: number; readonly atLeastMs: number };

/** A state, and what to do on entering it. */
export interface Transition {
  readonly state: ReflectorState;
  readonly effects: readonly ReflectorEffect[];
}
