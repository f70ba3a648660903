import type { AdmissionWrite, WriteFacts } from './write.js';

/**
 * A step of admission. The chain calls `admit` of all plugins in order, then, once the object is complete and valid,
 * `validate` of all plugins in order.
 */
export interface AdmissionPlugin {
  /** As upstream names it, e.g. `MutatingAdmissionWebhook`. */
  readonly name: string;
  /** Whether nothing is configured, so that the plugin concerns no write at all. Called for every write. */
  isIdle(): boolean;
  /**
   * Whether the plugin may concern a write. Synchronous, cheap and called for every write. A write that concerns no
   * plugin is one synchronous step.
   */
  handles(facts: WriteFacts): boolean;
  /** Changes `write.object`. @throws StatusError to refuse the write */
  admit?(write: AdmissionWrite): Promise<void>;
  /** @throws StatusError to refuse the write */
  validate?(write: AdmissionWrite): Promise<void>;
}
