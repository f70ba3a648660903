import type { CycleView, EventView, RunReference, TimelineView, WriteView } from '@kctl/inspection';
import { duration } from './duration.js';

/** Formats why an object was reconciled, and the result, newest first. */
export function formatTimeline(title: string, { keys, cycles, writtenBy }: TimelineView): string {
  const lines = [
    title,
    ...keys.flatMap(({ controller, state, attempts, nextInMs, lastFailure, advice }) => [
      `  ${controller}: ${state}${attempts === 0 ? '' : `, ${attempts} failed or backed off in a row`}${nextInMs === undefined ? '' : `, again in ${duration(nextInMs)}`}${lastFailure === undefined ? '' : `: ${lastFailure}`}`,
      ...(advice === undefined ? [] : [`    ${advice}`]),
    ]),
    ...cycles.flatMap((cycle) => cycleLines(cycle)),
    ...(writtenBy.length === 0 ? [] : ['written by others', ...writtenBy.flatMap((cycle) => cycleLines(cycle))]),
  ];
  return `${lines.join('\n')}\n`;
}

function cycleLines(cycle: CycleView): string[] {
  const { run, events, eventsOmitted, reasons, writes, writesOmitted, queuedAt } = cycle;
  const head =
    run === undefined
      ? `${time(queuedAt)}  waits`
      : `${time(run.startedAt)}  ${run.result}  ${duration(run.ms)}  attempt ${run.attempt}${run.isLooping ? '  in a loop' : ''}${run.failure === undefined ? '' : `  ${run.failure}`}${run.reconcileId === undefined ? '' : `  reconcileID ${run.reconcileId}`}`;
  return [
    `#${cycle.sequence}  ${cycle.controller} ${cycle.key}  ${head}`,
    ...reasons.map((reason) => `    why    ${reason}`),
    ...events.map((event) => `    why    ${eventText(event)}`),
    ...(eventsOmitted === 0 ? [] : [`    why    ${eventsOmitted} more events`]),
    ...writes.map((write) => `    wrote  ${writeText(write)}`),
    ...(writesOmitted === 0 ? [] : [`    wrote  ${writesOmitted} more`]),
  ];
}

function eventText({ source, type, object, resourceVersion, causedBy }: EventView): string {
  const version = resourceVersion === '' ? '' : ` @${resourceVersion}`;
  return `${source} ${type} ${object}${version}${causedBy === undefined ? '' : `, written by ${reference(causedBy)}`}`;
}

function writeText({ verb, kind, subresource, object, resourceVersion, failure, caused }: WriteView): string {
  const what = subresource === '' ? kind : `${kind}/${subresource}`;
  const version = resourceVersion === '' ? '' : ` @${resourceVersion}`;
  const outcome = failure === undefined ? '' : `: ${failure}`;
  return `${verb} ${what} ${object}${version}${outcome}${caused.length === 0 ? '' : `, led to ${caused.map(reference).join(', ')}`}`;
}

function reference({ controller, key, sequence }: RunReference): string {
  return `${controller} ${key} #${sequence}`;
}

function time(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}
