import { isStatusError } from '@kctl/apimachinery';
import { mergePatch } from '@kctl/client';
import type { HttpClient } from '@kctl/client-http';
import { sleep, systemClock } from '@kctl/wait';
import { names, tooLarge } from './replica.js';
import { WidgetV1, WidgetV2 } from './widget.js';

/** What came of the writes. */
export interface LoadReport {
  /** Writes that the API server answered. */
  answered: number;
  /** Refused by the validator, as they had to be. */
  denied: number;
  /** Writes that were neither accepted nor denied by the validator, and from when to when since the start, in ms. */
  readonly failures: { readonly fromMs: number; readonly toMs: number; readonly what: string }[];
  /** Accepted though the validator must refuse them. */
  wronglyAccepted: number;
  /** How long answers took, in ms. */
  readonly latenciesMs: number[];
  /** Answers in each second. */
  readonly perSecond: number[];
}

/** Writes at a rate until they are stopped. */
export interface Load {
  readonly report: LoadReport;
  /** Resolves when every write has ended. */
  stop(): Promise<LoadReport>;
}

/** Enough that few writes race for one of them: a race is run again, its webhooks included. */
const objects = 500;
const mostInFlight = 200;
const tickMs = 5;

/** Objects that the load writes to. They pass the webhooks, too. */
export async function createObjects(client: HttpClient): Promise<void> {
  const create = async (index: number): Promise<unknown> =>
    await client.create(WidgetV1, { metadata: { namespace: names.namespace, name: `w${index}` }, spec: { size: 1 } });
  for (let index = 0; index < objects; index += 20)
    await Promise.all(Array.from({ length: 20 }, (_unused, more) => create(index + more)));
}

/**
 * Starts `ratePerSecond` merge patches a second. Each passes a defaulter and a validator; each 20th is one that the
 * validator refuses, each 10th is made in the version that is not stored, and so converted four times.
 */
export function startLoad(client: HttpClient, ratePerSecond: number): Load {
  const report: LoadReport = {
    answered: 0,
    denied: 0,
    failures: [],
    wronglyAccepted: 0,
    latenciesMs: [],
    perSecond: [],
  };
  const stop = new AbortController();
  const started = systemClock.monotonicNow();
  const sinceStart = (): number => systemClock.monotonicNow() - started;
  const inFlight = new Set<Promise<void>>();
  const note = (): void => {
    report.answered++;
    const second = Math.floor(sinceStart() / 1000);
    report.perSecond[second] = (report.perSecond[second] ?? 0) + 1;
  };
  const write = async (count: number): Promise<void> => {
    const isBad = count % 20 === 7;
    const size = isBad ? tooLarge : 1 + (count % 5);
    const key = { namespace: names.namespace, name: `w${count % objects}` };
    const at = sinceStart();
    try {
      if (count % 10 === 3) await client.patch(WidgetV2, key, mergePatch({ spec: { width: size } }));
      else await client.patch(WidgetV1, key, mergePatch({ spec: { size } }));
      note();
      if (isBad) report.wronglyAccepted++;
    } catch (error) {
      const isAnswer = isStatusError(error);
      const what = error instanceof Error ? error.message : String(error);
      if (isBad && isAnswer && what.includes('is too large')) {
        note();
        report.denied++;
      } else report.failures.push({ fromMs: Math.round(at), toMs: Math.round(sinceStart()), what });
    }
    report.latenciesMs.push(sinceStart() - at);
  };
  const running = (async () => {
    let sent = 0;
    while (!stop.signal.aborted) {
      const due = Math.floor((sinceStart() * ratePerSecond) / 1000);
      for (; sent < due && inFlight.size < mostInFlight; sent++) {
        const one: Promise<void> = write(sent).finally(() => {
          inFlight.delete(one);
        });
        inFlight.add(one);
      }
      await sleep(tickMs);
    }
    await Promise.all(inFlight);
  })();
  return {
    report,
    stop: async () => {
      stop.abort();
      await running;
      return report;
    },
  };
}
