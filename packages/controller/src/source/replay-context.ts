import { lowPriority } from '@kctl/workqueue';
import type { SourceContext } from './source.js';

/**
 * The context for delivering everything once more. Requests have low priority unless their handler sets one, and do not
 * state whether the object is present. It may have gone during the replay, and that event has been handled already.
 */
export function replayContext<R>(context: SourceContext<R>): SourceContext<R> {
  return {
    ...context,
    queue: {
      add: (request, options = {}) => {
        const { presence: _presence, priority = lowPriority, ...rest } = options;
        context.queue.add(request, { ...rest, priority });
      },
    },
  };
}
