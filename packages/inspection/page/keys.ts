import { h, type ComponentChild } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { KeysView } from '../src/index.js';
import { useView } from './api.js';
import { duration } from './format.js';
import { go, linkTo } from './route.js';
import { VirtualList } from './virtual-list.js';

const states = ['all', 'failing', 'looping', 'running', 'waiting', 'delayed', 'idle'];
const sorts: readonly (readonly [value: string, label: string])[] = [
  ['state', 'what is wrong first'],
  ['attempts', 'attempts'],
  ['next', 'next run'],
  ['running', 'longest running'],
  ['runs', 'runs'],
  ['last', 'last run'],
  ['key', 'name'],
];
const pageSize = 100;

/** All keys, in a table that holds ten thousands. */
export function Keys({
  query,
  version,
}: {
  readonly query: URLSearchParams;
  readonly version: number;
}): ComponentChild {
  const [from, setFrom] = useState(0);
  const state = query.get('state') ?? 'all';
  const sort = query.get('sort') ?? 'state';
  const search = query.get('search') ?? '';
  const controller = query.get('controller') ?? '';
  const asked = new URLSearchParams({
    state,
    sort,
    search,
    controller,
    offset: String(from),
    limit: String(2 * pageSize),
  });
  const { value, error } = useView<KeysView>(`keys?${asked.toString()}`, version);
  const rows = useMemo(
    () =>
      new Map(
        (value?.rows ?? []).map((row, index) => [
          (value?.offset ?? 0) + index,
          [
            h('a', { href: linkTo('key', { controller: row.controller, key: row.key }), tabIndex: -1 }, row.key),
            row.controller,
            h('span', { class: `state ${row.state}` }, row.state),
            row.attempts === 0 ? '' : String(row.attempts),
            duration(row.nextInMs),
            duration(row.runningForMs ?? row.waitingForMs),
            String(row.runs),
            row.lastFailure ?? (row.lastResult === '' ? '' : `${row.lastResult}, ${duration(row.lastMs)}`),
          ],
        ]),
      ),
    [value],
  );
  const change = (name: string, text: string): void => {
    const next = new URLSearchParams(query);
    if (text === '' || text === 'all') next.delete(name);
    else next.set(name, text);
    go('keys', Object.fromEntries(next));
  };
  return h(
    'section',
    { 'aria-labelledby': 'title' },
    h('h1', { id: 'title', tabIndex: -1 }, controller === '' ? 'Keys' : `Keys of ${controller}`),
    h(
      'form',
      { role: 'search', onSubmit: (event: Event) => event.preventDefault() },
      h(
        'label',
        {},
        'Search ',
        h('input', {
          id: 'search',
          type: 'search',
          value: search,
          onInput: (event: Event) =>
            change('search', event.target instanceof HTMLInputElement ? event.target.value : ''),
        }),
      ),
      select(
        'State',
        state,
        states.map((each) => [each, each === 'all' ? each : `${each} (${countOf(value, each)})`] as const),
        (text) => change('state', text),
      ),
      select('Sort by', sort, sorts, (text) => change('sort', text)),
      h('span', { role: 'status' }, error ?? `${value?.total ?? 0} keys`),
    ),
    h(VirtualList, {
      label: 'Keys',
      head: ['Key', 'Controller', 'State', 'Attempts', 'Next in', 'Since', 'Runs', 'Last'],
      total: value?.total ?? 0,
      rows,
      onRange: (first, count) => {
        if (first < from || first + count > from + 2 * pageSize)
          setFrom(Math.max(0, Math.floor((first - pageSize / 2) / (pageSize / 2)) * (pageSize / 2)));
      },
      onOpen: (index) => {
        const row = value?.rows[index - value.offset];
        if (row !== undefined) go('key', { controller: row.controller, key: row.key });
      },
    }),
  );
}

function countOf(view: KeysView | undefined, state: string): number {
  return Object.entries(view?.counts ?? {}).find(([name]) => name === state)?.[1] ?? 0;
}

function select(
  label: string,
  value: string,
  options: readonly (readonly [value: string, label: string])[],
  onChange: (value: string) => void,
): ComponentChild {
  return h(
    'label',
    {},
    `${label} `,
    h(
      'select',
      {
        value,
        onChange: (event: Event) => {
          if (event.target instanceof HTMLSelectElement) onChange(event.target.value);
        },
      },
      options.map(([each, text]) => h('option', { value: each, selected: each === value }, text)),
    ),
  );
}
