/** Where the page is: a view and what is asked of it, in the fragment, so that links and Back work. */
export interface Route {
  readonly view: string;
  readonly query: URLSearchParams;
}

export function currentRoute(): Route {
  const [view = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { view, query: new URLSearchParams(query) };
}

export function linkTo(view: string, query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(query).toString();
  return `#/${view}${text === '' ? '' : `?${text}`}`;
}

export function go(view: string, query: Readonly<Record<string, string>> = {}): void {
  const { view: before } = currentRoute();
  // What only refines a view is not a step back.
  if (before === view) {
    history.replaceState(null, '', linkTo(view, query));
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else location.hash = linkTo(view, query);
}
