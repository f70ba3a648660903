import { h, type ComponentChild } from 'preact';
import type { OverviewView } from '../src/index.js';
import { bytes, duration } from './format.js';
import { linkTo } from './route.js';
import { table } from './tables.js';

/** What is wrong first, then the figures. */
export function Overview({ value }: { readonly value: OverviewView | undefined }): ComponentChild {
  if (value === undefined) return h('p', {}, 'Loading');
  const { problems, controllers, informers, recorder, eventLoop, memory, leaseAgeMs } = value;
  const figures: readonly (readonly [string, string])[] = [
    ['Leader', value.isLeader ? `yes${leaseAgeMs === undefined ? '' : `, renewed ${duration(leaseAgeMs)} ago`}` : 'no'],
    [
      'Informers',
      `${informers.healthy} of ${informers.total} watch, ${informers.objects} objects, ${bytes(informers.bytes)}`,
    ],
    [
      'Event loop',
      eventLoop === undefined ? '' : `p99 ${duration(eventLoop.p99Ms)}, longest ${duration(eventLoop.maxMs)}`,
    ],
    ['Memory', `${bytes(memory.heapUsedBytes)} heap, ${bytes(memory.rssBytes)} in all`],
    [
      'Recorder',
      `${recorder.runs} runs, ${bytes(recorder.bytes)} of ${bytes(recorder.budgetBytes)}, ${recorder.forgotten} forgotten`,
    ],
    ['Recording for', duration(value.recordingForMs)],
  ];
  return h(
    'section',
    { 'aria-labelledby': 'title' },
    h('h1', { id: 'title', tabIndex: -1 }, 'Overview'),
    problems.length === 0
      ? h('p', { class: 'fine' }, 'Nothing is wrong.')
      : h(
          'ul',
          { class: 'problems', 'aria-label': 'Problems' },
          problems.map(({ severity, text, view, controller }) =>
            h(
              'li',
              { class: severity },
              h('span', { class: 'severity' }, severity),
              ' ',
              view === 'overview'
                ? text
                : h('a', { href: linkTo(view, controller === undefined ? {} : { controller }) }, text),
            ),
          ),
        ),
    table(
      'Controllers',
      ['Controller', 'State', 'Waiting', 'Oldest', 'Running', 'Longest', 'Failing', 'Looping', 'Keys', 'Runs'],
      controllers.map((row) => ({
        isBad: row.failing + row.looping > 0,
        cells: [
          h('a', { href: linkTo('keys', { controller: row.name }) }, row.name),
          row.phase,
          String(row.queueLength),
          duration(row.oldestWaitMs),
          `${row.running}/${row.workers}`,
          duration(row.longestRunMs),
          String(row.failing),
          String(row.looping),
          String(row.keys),
          String(row.runs),
        ],
      })),
    ),
    h(
      'dl',
      {},
      figures.map(([name, text]) => [h('dt', {}, name), h('dd', {}, text)]),
    ),
  );
}
