import type { Rendering } from '../storage/version.js';

/** Result of a write. */
export interface Written {
  readonly status: 200 | 201;
  /** The object as it is now, in the version of the URL. */
  readonly rendering: Rendering;
}
