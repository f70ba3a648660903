import type { KubeObject } from '@kctl/apimachinery';
import { callHandler } from './call-handler.js';
import type { EventFilters, InformerEventHandler } from './event.js';

/** A handler that receives what the filter of its event's type lets pass. */
export function filteredByType<T extends KubeObject>(
  filters: EventFilters<T>,
  handler: InformerEventHandler<T>,
): InformerEventHandler<T> {
  return {
    onEvent: (event) => {
      if (filters[event.type]?.(event) === false) return undefined;
      return callHandler(handler, event);
    },
  };
}
