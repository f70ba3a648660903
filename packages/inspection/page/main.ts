import { h, render, type ComponentChild } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { OverviewView } from '../src/index.js';
import { Key } from './key.js';
import { Keys } from './keys.js';
import { Overview } from './overview.js';
import { currentRoute, linkTo, type Route } from './route.js';
import { Graph, Informers, Rights } from './tables.js';

const views: readonly (readonly [view: string, label: string])[] = [
  ['', 'Overview'],
  ['keys', 'Keys'],
  ['informers', 'Informers'],
  ['graph', 'Graph'],
  ['rights', 'Rights'],
];

function App(): ComponentChild {
  const [{ view, query }, setRoute] = useState<Route>(currentRoute);
  const [overview, setOverview] = useState<OverviewView>();
  const [version, setVersion] = useState(0);
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    const follow = (): void => setRoute(currentRoute());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  useEffect(() => {
    const events = new EventSource('events');
    events.addEventListener('open', () => setLive(true));
    events.addEventListener('error', () => setLive(false));
    events.addEventListener('overview', (event: MessageEvent<string>) => {
      // The server is the one that served this page.
      setOverview(JSON.parse(event.data) as OverviewView);
      if (document.visibilityState === 'visible') setVersion((before) => before + 1);
    });
    return () => events.close();
  }, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
      const search = document.getElementById('search');
      if (search === null) location.hash = linkTo('keys');
      else search.focus();
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  // A reader of the screen begins a new view at its title: before the first key that is pressed in it.
  useLayoutEffect(() => document.getElementById('title')?.focus({ preventScroll: true }), [view]);
  const errors = overview?.problems.filter(({ severity }) => severity === 'error').length ?? 0;
  useEffect(() => {
    document.title = `${errors === 0 ? '' : `(${errors}) `}kctl inspection`;
  }, [errors]);
  return h(
    'div',
    { class: 'app' },
    h('a', { class: 'skip', href: '#main', onClick: (event: Event) => skip(event) }, 'Skip to content'),
    h(
      'header',
      {},
      h(
        'nav',
        { 'aria-label': 'Views' },
        views.map(([each, label]) =>
          h('a', { href: linkTo(each), 'aria-current': each === view ? 'page' : undefined }, label),
        ),
      ),
      h(
        'p',
        { role: 'status', class: errors === 0 ? 'fine' : 'error' },
        `${isLive ? 'live' : 'not connected'}, ${errors === 0 ? 'no problems' : `${errors} problem${errors === 1 ? '' : 's'}`}`,
      ),
    ),
    h('main', { id: 'main', tabIndex: -1 }, viewOf({ view, query }, { overview, version })),
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function viewOf(
  { view, query }: Route,
  { overview, version }: { readonly overview: OverviewView | undefined; readonly version: number },
): ComponentChild {
  switch (view) {
    case 'keys':
      return h(Keys, { query, version });
    case 'key':
      return h(Key, { query, version });
    case 'informers':
      return h(Informers, { version });
    case 'graph':
      return h(Graph, { version });
    case 'rights':
      return h(Rights, { version });
    default:
      return h(Overview, { value: overview });
  }
}

const root = document.getElementById('root');
if (root !== null) render(h(App, {}), root);
