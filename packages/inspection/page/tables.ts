import { h, type ComponentChild } from 'preact';
import type { ControllerNode, InformerRow, RightRow } from '../src/index.js';
import { useView } from './api.js';
import { bytes, duration } from './format.js';
import { linkTo } from './route.js';

/** A table with a caption. */
export function table(
  caption: string,
  head: readonly string[],
  rows: readonly { readonly isBad?: boolean; readonly cells: readonly (string | ComponentChild)[] }[],
): ComponentChild {
  return h(
    'table',
    {},
    h('caption', {}, caption),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        head.map((text) => h('th', { scope: 'col' }, text)),
      ),
    ),
    h(
      'tbody',
      {},
      rows.map(({ isBad = false, cells }) =>
        h(
          'tr',
          { class: isBad ? 'bad' : '' },
          cells.map((cell) => h('td', {}, cell)),
        ),
      ),
    ),
  );
}

/** Informers with what they hold, and their share of all bytes. */
export function Informers({ version }: { readonly version: number }): ComponentChild {
  const { value = [] } = useView<readonly InformerRow[]>('informers', version);
  const all = value.reduce((sum, row) => sum + (row.bytes ?? 0), 0);
  return h(
    'section',
    { 'aria-labelledby': 'title' },
    h('h1', { id: 'title', tabIndex: -1 }, 'Informers'),
    table(
      `${value.length} informers, ${bytes(all)}`,
      ['Kind', 'State', 'For', 'Objects', 'Bytes', 'Share', 'Indexes', 'Namespaces', 'Trouble'],
      value.map((row) => ({
        isBad: row.isWanted && row.phase !== 'watching',
        cells: [
          row.kind,
          `${row.phase}${row.hasSynced ? '' : ', not synced'}${row.isWanted ? '' : ', lingers'}`,
          duration(row.phaseForMs),
          row.objects === undefined ? '' : String(row.objects),
          bytes(row.bytes),
          h('meter', {
            min: 0,
            max: 1,
            value: all === 0 ? 0 : (row.bytes ?? 0) / all,
            'aria-label': `share of ${row.kind}`,
          }),
          row.indexes.join(', '),
          row.namespaces?.join(', ') ?? 'all',
          row.trouble ?? '',
        ],
      })),
    ),
  );
}

/** Kinds, the controllers that their events reach, and what those write. */
export function Graph({ version }: { readonly version: number }): ComponentChild {
  const { value = [] } = useView<readonly ControllerNode[]>('graph', version);
  return h(
    'section',
    { 'aria-labelledby': 'title' },
    h('h1', { id: 'title', tabIndex: -1 }, 'Graph'),
    value.map((node) =>
      h(
        'div',
        { class: 'graph', role: 'group', 'aria-label': node.name, key: node.name },
        h(
          'ul',
          { 'aria-label': 'watches' },
          node.watches.map(({ source, kind, phase, events }) =>
            h(
              'li',
              { class: phase === 'failed' ? 'bad' : '' },
              h('strong', {}, kind === '' ? source : kind),
              ` ${phase}, ${events} events`,
            ),
          ),
        ),
        h(
          'p',
          { class: 'node' },
          h('a', { href: linkTo('keys', { controller: node.name }) }, node.name),
          h('small', {}, ` ${node.phase}`),
        ),
        h(
          'ul',
          { 'aria-label': 'writes' },
          node.writes.map(({ resource, verbs, reason }) =>
            h('li', {}, h('strong', {}, resource), ` ${verbs.join(', ')} `, h('small', {}, reason)),
          ),
        ),
      ),
    ),
  );
}

/** Rights that are used beside those that are declared. */
export function Rights({ version }: { readonly version: number }): ComponentChild {
  const { value = [] } = useView<readonly RightRow[]>('rights', version);
  return h(
    'section',
    { 'aria-labelledby': 'title' },
    h('h1', { id: 'title', tabIndex: -1 }, 'Rights'),
    table(
      'Rights that requests used, beside those that the operator declares',
      ['State', 'Verb', 'Resource', 'Namespace', 'Requests', 'Refused', ''],
      value.map(({ state, verb, resource, group, namespace, count, refused, note }) => ({
        isBad: state === 'missing' || refused > 0,
        cells: [
          state,
          verb,
          group === '' ? resource : `${resource}.${group}`,
          namespace ?? 'all',
          String(count),
          refused === 0 ? '' : String(refused),
          note,
        ],
      })),
    ),
  );
}
