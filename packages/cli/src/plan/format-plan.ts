import type { PlannedChange, PlannedField } from '@kctl/controller';
import { isDeepStrictEqual } from 'node:util';
import type { PlanOutcome } from './plan.js';
import type { TextStyle } from '../io.js';

/** A line of text, and how a terminal shows it. */
export type StyledLine = readonly [text: string, style?: TextStyle | undefined];

const signs = {
  created: ['+', 'green'],
  adopted: ['+', 'green'],
  applied: ['~', 'yellow'],
  recreated: ['±', 'red'],
  deleted: ['-', 'red'],
  orphaned: ['-', 'yellow'],
} as const;

/** Longest value that is shown, in characters. */
const maxLength = 120;

/** A plan for a person: objects, their children, and fields of those. */
export function formatPlan({ planned, objects }: PlanOutcome): StyledLine[] {
  const lines: StyledLine[] = [];
  for (const { object, changes, obstacles, error } of objects) {
    lines.push([object, 'bold']);
    for (const change of changes) lines.push(...formatChange(change));
    for (const { node, state, message } of obstacles)
      lines.push([`  ! ${node}: ${state}: ${message}`, state === 'failed' ? 'red' : undefined]);
    if (error !== undefined) lines.push([`  ! ${error}`, 'red']);
  }
  const counts = new Map<string, number>();
  for (const { action } of objects.flatMap(({ changes }) => changes)) counts.set(action, (counts.get(action) ?? 0) + 1);
  const total = [...counts].map(([action, count]) => `${count} ${action}`).join(', ');
  lines.push([`${planned} ${planned === 1 ? 'object' : 'objects'} planned: ${total === '' ? 'no changes' : total}`]);
  return lines;
}

function formatChange({ node, target, action, fields }: PlannedChange): StyledLine[] {
  const [sign, style] = signs[action];
  const origin = node === undefined ? 'no longer declared' : node;
  return [
    [`  ${sign} ${target}: ${action} (${origin})`, style],
    ...fields.map((field): StyledLine => [formatField(field, action === 'created')]),
  ];
}

function formatField(field: PlannedField, isNew: boolean): string {
  const { path, before, after } = field;
  if (!('before' in field) && !('after' in field)) return `      ${path}: (not shown)`;
  if (isNew) return `      ${path}: ${shown(after)}`;
  if (isDeepStrictEqual(before, after)) return `      ${path}: ${shown(after)} (ownership is taken)`;
  return `      ${path}: ${shown(before)} → ${shown(after)}`;
}

function shown(value: unknown): string {
  if (value === undefined) return '(none)';
  const text = JSON.stringify(value);
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}
