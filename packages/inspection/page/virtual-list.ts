import { h, type ComponentChild } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Of a row, in px; as the style has it. */
const rowHeight = 32;
/** Rows beyond the visible ones. */
const around = 8;

/** Options of {@link VirtualList}. */
export interface VirtualListOptions {
  readonly label: string;
  readonly head: readonly string[];
  readonly total: number;
  /** The rows that are there, by their place in the list. */
  readonly rows: ReadonlyMap<number, readonly (string | ComponentChild)[]>;
  /** Called when other rows are to be there. */
  readonly onRange: (first: number, count: number) => void;
  readonly onOpen: (index: number) => void;
}

/** A table of which only the visible rows are in the document; by keyboard as a list: arrows, Page, Home, End, Enter. */
export function VirtualList({ label, head, total, rows, onRange, onOpen }: VirtualListOptions): ComponentChild {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [active, setActive] = useState(0);
  const first = Math.max(0, Math.floor(top / rowHeight) - around);
  const count = Math.min(total - first, Math.ceil(height / rowHeight) + 2 * around);
  useEffect(() => {
    const { current } = box;
    if (current === null) return;
    const observer = new ResizeObserver(() => setHeight(current.clientHeight));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => onRange(first, count), [first, count]);
  const move = (to: number): void => {
    const index = Math.max(0, Math.min(total - 1, to));
    setActive(index);
    const { current } = box;
    if (current === null) return;
    // The head stays in view above the rows.
    const visible = current.clientHeight - rowHeight;
    if (index * rowHeight < current.scrollTop) current.scrollTop = index * rowHeight;
    else if ((index + 1) * rowHeight > current.scrollTop + visible)
      current.scrollTop = (index + 1) * rowHeight - visible;
  };
  const page = Math.max(1, Math.floor(height / rowHeight) - 2);
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + page,
    PageUp: active - page,
    Home: 0,
    End: total - 1,
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = steps[event.key];
    if (to !== undefined) move(to);
    else if (event.key === 'Enter') onOpen(active);
    else return;
    event.preventDefault();
  };
  const visible = Array.from({ length: Math.max(0, count) }, (_, index) => first + index);
  return h(
    'div',
    {
      ref: box,
      class: 'list',
      role: 'grid',
      'aria-label': label,
      'aria-rowcount': total + 1,
      'aria-activedescendant': `row-${active}`,
      tabIndex: 0,
      onScroll: () => setTop(box.current?.scrollTop ?? 0),
      onKeyDown,
    },
    h(
      'div',
      { class: 'row head', role: 'row', 'aria-rowindex': 1 },
      head.map((text) => h('div', { role: 'columnheader' }, text)),
    ),
    h(
      'div',
      { class: 'rows', role: 'rowgroup', style: { height: `${total * rowHeight}px` } },
      visible.map((index) =>
        h(
          'div',
          {
            key: index,
            id: `row-${index}`,
            class: `row${index === active ? ' active' : ''}`,
            role: 'row',
            'aria-rowindex': index + 2,
            'aria-selected': index === active,
            style: { transform: `translateY(${index * rowHeight}px)` },
            onClick: () => {
              setActive(index);
              onOpen(index);
            },
          },
          (rows.get(index) ?? head.map(() => '')).map((cell) => h('div', { role: 'gridcell' }, cell)),
        ),
      ),
    ),
  );
}
