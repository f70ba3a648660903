import { h, type ComponentChild } from 'preact';
import type { CycleView, RunReference, TimelineView } from '../src/index.js';
import { useView } from './api.js';
import { clockTime, duration } from './format.js';
import { linkTo } from './route.js';

/** Why a key was reconciled, what the runs wrote, and what that led to. */
export function Key({ query, version }: { readonly query: URLSearchParams; readonly version: number }): ComponentChild {
  const key = query.get('key') ?? '';
  const asked = new URLSearchParams({ key, controller: query.get('controller') ?? '' });
  const { value, error } = useView<TimelineView>(`timeline?${asked.toString()}`, version);
  return h(
    'section',
    { 'aria-labelledby': 'title' },
    h('h1', { id: 'title', tabIndex: -1 }, key),
    error === undefined ? undefined : h('p', { class: 'error' }, error),
    (value?.keys ?? []).map((row) =>
      h(
        'p',
        { key: row.controller },
        h('span', { class: `state ${row.state}` }, row.state),
        ` in ${row.controller}, ${row.runs} runs, ${row.failures} failures`,
        row.nextInMs === undefined ? '' : `, again in ${duration(row.nextInMs)}`,
        row.advice === undefined ? undefined : h('strong', { class: 'advice' }, row.advice),
      ),
    ),
    value !== undefined && value.cycles.length === 0 ? h('p', {}, 'Nothing is recorded of it any longer.') : undefined,
    h(
      'ol',
      { class: 'timeline' },
      (value?.cycles ?? []).map((cycle) => cycleOf(cycle)),
    ),
    (value?.writtenBy.length ?? 0) === 0
      ? undefined
      : [
          h('h2', {}, 'Written by runs of other keys'),
          h(
            'ol',
            { class: 'timeline' },
            (value?.writtenBy ?? []).map((cycle) => cycleOf(cycle)),
          ),
        ],
  );
}

function cycleOf(cycle: CycleView): ComponentChild {
  const { run, events, writes, reasons, eventsOmitted, writesOmitted } = cycle;
  return h(
    'li',
    { key: cycle.sequence, class: run?.result ?? 'waiting' },
    h(
      'div',
      { class: 'step' },
      h('h3', {}, 'Why'),
      h(
        'ul',
        {},
        reasons.map((reason) => h('li', {}, reason)),
        events.map((event) =>
          h(
            'li',
            {},
            `${event.source} ${event.type} ${event.object}`,
            h('span', { class: 'version' }, event.resourceVersion === '' ? '' : ` @${event.resourceVersion}`),
            event.causedBy === undefined ? undefined : [' written by ', referenceOf(event.causedBy)],
          ),
        ),
        eventsOmitted === 0 ? undefined : h('li', {}, `${eventsOmitted} more events`),
      ),
    ),
    h(
      'div',
      { class: 'step' },
      h('h3', {}, `#${cycle.sequence} ${cycle.controller}`),
      run === undefined
        ? h('p', {}, `waits since ${clockTime(cycle.queuedAt)}`)
        : h(
            'p',
            {},
            h('strong', {}, run.result),
            ` at ${clockTime(run.startedAt)}, ${duration(run.ms)}, attempt ${run.attempt}, ${run.requests} requests`,
            run.nextMs === undefined ? '' : `, then again after ${duration(run.nextMs)}`,
            run.isLooping ? ', in a loop' : '',
            run.failure === undefined ? undefined : h('span', { class: 'error' }, run.failure),
            run.reconcileId === undefined ? undefined : h('code', {}, `reconcileID ${run.reconcileId}`),
          ),
    ),
    h(
      'div',
      { class: 'step' },
      h('h3', {}, 'Wrote'),
      writes.length === 0
        ? h('p', {}, 'nothing')
        : h(
            'ul',
            {},
            writes.map((write) =>
              h(
                'li',
                {},
                `${write.verb} ${write.kind}${write.subresource === '' ? '' : `/${write.subresource}`} ${write.object}`,
                h('span', { class: 'version' }, write.resourceVersion === '' ? '' : ` @${write.resourceVersion}`),
                write.failure === undefined ? undefined : h('span', { class: 'error' }, write.failure),
                write.caused.length === 0
                  ? undefined
                  : [' led to ', write.caused.map((each, index) => [index === 0 ? '' : ', ', referenceOf(each)])],
              ),
            ),
            writesOmitted === 0 ? undefined : h('li', {}, `${writesOmitted} more writes`),
          ),
    ),
  );
}

function referenceOf({ controller, key, sequence }: RunReference): ComponentChild {
  return h('a', { href: linkTo('key', { controller, key }) }, `${controller} ${key} #${sequence}`);
}
