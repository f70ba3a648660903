import type { StoreEvent } from '../storage/table.js';

/** A controller inside the server, which sees each commit and works later from a queue. */
export interface InnerController {
  observe(event: StoreEvent): void;
  /** Called when kinds come or go. */
  kindsChanged?(): void;
  /** Looks at everything that is there. */
  resync(): void;
  /** Does one piece of queued work; answers whether there is more. */
  step(): boolean;
}
