/** How a change meets objects that are stored and clients that are written. */
export type ChangeClass = 'compatible' | 'narrowing' | 'breaking';

/** One difference between two CustomResourceDefinitions. */
export interface CrdChange {
  /**
   * `compatible`: everything that was valid is valid, and is kept. `narrowing`: some objects that were valid are not; the
   * API server keeps stored ones as long as an update does not touch the field. `breaking`: data is lost, objects cannot be
   * written, or clients fail.
   */
  readonly change: ChangeClass;
  /** The version; '' for the whole definition. */
  readonly version: string;
  /** `spec.parts[].name`; '' for the version or the definition. */
  readonly path: string;
  readonly reason: string;
}

/** Adds changes of one version. */
export type Note = (change: ChangeClass, path: string, reason: string) => void;
