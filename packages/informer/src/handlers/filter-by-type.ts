import type { KubeObject } from '@kctl/apimachinery';
import { callHandler } from './call-handler.js';
import type { EventFilters, InformerEventHandler } from './event.js';
import { filterAnswer } from './filter-answer.js';

/** A handler that receives what the filter of its event's type lets pass. */
export function filteredByType<T extends KubeObject>(
  filters: EventFilters<T>,
  handler: InformerEventHandler<T>,
): InformerEventHandler<T> {
  return {
    onEvent: (event) => {
      const { type } = event;
      if (filters[type] !== undefined && !filterAnswer(`filters.${type}`, filters[type](event))) return undefined;
      return callHandler(handler, event);
    },
  };
}
