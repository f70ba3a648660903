import { lowPriority } from '@kctl/workqueue';
import type { SourceContext } from './source.js';

/**
 * The context for handing everything over once more: requests have low priority unless their handler sets one, and say
 * nothing of whether the object is there. It may have gone while the replay is under way, and the event of that has
 * been handled already.
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
