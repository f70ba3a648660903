/** The thread of the server has long objects read by another one, and calls the conversion webhook for it. */
import { StatusError, type UntypedObject } from '@kctl/apimachinery';
import type { Random } from '@kctl/wait';
import { parseJsonFast } from '../json/strict-json.js';
import type { CallOutcome } from '../offload/long-write.js';
import { callOutcome } from './call-outcome.js';
import type { Offload } from '../offload/offload.js';
import type { StoredState } from '../resource/resource.js';
import { isStoredObject } from '../storage/log-files.js';
import { LongBody, longObject } from '../storage/long-object.js';
import type { WebhookConnections } from '../outgoing/webhook-caller.js';
import type { DefinitionText, ReadObject } from '../offload/long-read.js';

/** State that another thread has read. */
export interface ReadState {
  /** Undefined if it is as it is stored. */
  readonly object: UntypedObject | undefined;
  /** Fields for selectors. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Reads stored objects in another thread. */
export interface LongReader {
  /** The objects in a served version, in order. @throws StatusError */
  read(crd: DefinitionText, version: string, states: readonly StoredState[]): Promise<readonly ReadState[]>;
}

/** Options for a {@link LongReader}. */
export interface LongReaderOptions {
  readonly offload: Offload;
  readonly webhooks: WebhookConnections;
  readonly random: Random;
}

function readState({ long, text, fields }: ReadObject): ReadState {
  if (long !== undefined) return { object: longObject(new LongBody(long)), fields };
  if (text === undefined) return { object: undefined, fields };
  const object = parseJsonFast(text);
  if (!isStoredObject(object)) throw new TypeError('the other thread has read no object');
  return { object, fields };
}

/** Makes a reader; nothing runs before its first object. */
export function createLongReader({ offload, webhooks, random }: LongReaderOptions): LongReader {
  return {
    async read(crd, version, states) {
      const texts = states.map(({ text }) => text);
      const seed = Math.floor(random() * 2 ** 32);
      const outcomes: CallOutcome[] = [];
      for (;;) {
        const result = await offload.run({ type: 'read', crd, version, texts, seed, outcomes });
        switch (result.type) {
          case 'read':
            return result.objects.map(readState);
          case 'failed':
            throw new StatusError(result.status);
          case 'asks':
            outcomes.push(...(await Promise.all(result.calls.map((call) => callOutcome(webhooks, call)))));
        }
      }
    },
  };
}
