import { expired } from '../protocol/status.js';
import type { Sink } from '../protocol/sink.js';
import type { WatchTap } from '../watch/session.js';
import type { WatchShape } from '../codecs/shape.js';
import type { FaultAction } from './faults.js';

/** Lets so many lines through, then does something once; after that nothing passes. */
function after(count: number, strike: (sink: Sink, shape: WatchShape) => void): WatchTap {
  let passed = 0;
  let isDone = false;
  const strikeOnce = (sink: Sink, shape: WatchShape): void => {
    if (isDone) return;
    isDone = true;
    strike(sink, shape);
  };
  return {
    start: (sink, shape) => {
      if (count === 0) strikeOnce(sink, shape);
    },
    line: (line, sink, shape) => {
      if (isDone) return [];
      if (passed++ < count) return [line];
      strikeOnce(sink, shape);
      return [];
    },
  };
}

const expiredLine = (shape: WatchShape): Uint8Array =>
  shape.error(expired('too old resource version: injected fault').status);

/** Returns the effect of an action on the lines of a watch; undefined for actions that do nothing there. */
function watchTapFor(action: FaultAction): WatchTap | undefined {
  switch (action.type) {
    case 'expireWatch':
      return after(action.afterEvents ?? 0, (sink, shape) => {
        sink.write(expiredLine(shape));
        sink.end();
      });
    case 'dropWatch':
      return after(action.afterEvents ?? 0, (sink) => {
        if (action.how === 'destroy') sink.destroy();
        else sink.end();
      });
    case 'stallWatch':
      return after(action.afterEvents ?? 0, () => undefined);
    case 'tearEvent':
      return tear(action.afterEvents ?? 0);
    case 'duplicateEvent':
      return { line: (line) => [line, line] };
    case 'delay':
    case 'status':
    case 'conflict':
    case 'commitThenFail':
    case 'rejectConnection':
    case 'truncateBody':
    case 'staleRead':
      return undefined;
  }
}

function tear(count: number): WatchTap {
  let passed = 0;
  return {
    line: (line, sink) => {
      if (passed++ < count) return [line];
      if (passed === count + 1) {
        sink.write(line.subarray(0, line.length >> 1));
        void sink.drained().then(() => sink.destroy());
      }
      return [];
    },
  };
}

/**
 * Returns the combined effect of the actions that strike one watch on its lines. Half an event is the last output of
 * the watch, so its tap comes first, and no other tap sees or writes anything after it.
 */
export function watchTapOf(actions: readonly FaultAction[]): WatchTap | undefined {
  const tears = actions.filter((action) => action.type === 'tearEvent');
  const [earliest] = tears.sort((a, b) => (a.afterEvents ?? 0) - (b.afterEvents ?? 0));
  const others = actions.filter((action) => action.type !== 'tearEvent').map(watchTapFor);
  const first = earliest === undefined ? undefined : watchTapFor(earliest);
  return chainTaps([first, ...others].filter((tap) => tap !== undefined));
}

/** Several taps, one after the other. */
function chainTaps(taps: readonly WatchTap[]): WatchTap | undefined {
  if (taps.length < 2) return taps[0];
  return {
    start: (sink, shape) => {
      for (const tap of taps) tap.start?.(sink, shape);
    },
    line: (line, sink, shape) =>
      taps.reduce<readonly Uint8Array[]>((lines, tap) => lines.flatMap((each) => tap.line(each, sink, shape)), [line]),
  };
}
