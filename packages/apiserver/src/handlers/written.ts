import type { Rendering } from '../storage/version.js';

/** What a write has come to. */
export interface Written {
  readonly status: 200 | 201;
  /** The object as it is now, in the version of the URL. */
  readonly rendering: Rendering;
}
