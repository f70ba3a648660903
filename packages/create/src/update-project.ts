import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mergeText } from './merge-text.js';
import { ownVersion, renderProject } from './render-project.js';
import { readRecord, writeRecord } from './scaffold-record.js';

/** Options of {@link updateProject}. */
export interface UpdateProjectOptions {
  readonly folder: string;
  /** Writes nothing. @default false */
  readonly dryRun?: boolean;
  /** Version of the @kctl packages. @default that of this package */
  readonly version?: string;
  /** The files of this release; for tests. @default the template of this package */
  readonly files?: ReadonlyMap<string, string>;
}

/** What became of the files of a project, paths with slashes. */
export interface UpdateOutcome {
  /** Written anew, or merged with an author's edits without a conflict. */
  readonly updated: readonly string[];
  /** Merged with places that a person has to decide, between markers as git's. */
  readonly conflicts: readonly string[];
  /** No longer part of a project, and never edited. */
  readonly removed: readonly string[];
  /** Left as they are: edited or deleted by the author, and without a change, or no longer part of a project. */
  readonly kept: readonly string[];
}

type Change = { readonly as: keyof UpdateOutcome; readonly text?: string } | undefined;

/**
 * Brings a project up to date by a three-way merge of what it was made of, what it is now, and what this release makes.
 * An edit is never lost: where both have changed the same lines, both stand in the file. Files that an author has
 * deleted stay deleted. A second run changes nothing.
 *
 * @throws Error where the folder has no record of what it was made of
 */
export function updateProject({ folder, dryRun = false, version, files }: UpdateProjectOptions): UpdateOutcome {
  const record = readRecord(folder);
  const next = files ?? renderProject(record, version ?? ownVersion());
  const outcome: Record<keyof UpdateOutcome, string[]> = { updated: [], conflicts: [], removed: [], kept: [] };
  const paths = [...new Set([...Object.keys(record.files), ...next.keys()])].sort();
  for (const path of paths) {
    const target = join(folder, ...path.split('/'));
    const ours = existsSync(target) ? readFileSync(target, 'utf8') : undefined;
    const change = changeOf(record.files[path], ours, next.get(path));
    if (change === undefined) continue;
    outcome[change.as].push(path);
    if (dryRun || change.as === 'kept') continue;
    if (change.as === 'removed') rmSync(target);
    else {
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, change.text ?? '');
    }
  }
  if (!dryRun) writeRecord(folder, { ...record, files: Object.fromEntries(next) });
  return outcome;
}

/** What becomes of one file; undefined where nothing does. */
function changeOf(base: string | undefined, ours: string | undefined, theirs: string | undefined): Change {
  const isEdited = base === undefined ? ours !== undefined : ours === undefined || !isSame(base, ours);
  if (theirs === undefined) {
    if (ours === undefined) return undefined;
    return { as: isEdited ? 'kept' : 'removed' };
  }
  if (ours === undefined) return base === undefined ? { as: 'updated', text: theirs } : deleted(base, theirs);
  if (isSame(ours, theirs)) return undefined;
  if (base !== undefined && isSame(base, theirs)) return undefined;
  if (!isEdited) return { as: 'updated', text: theirs };
  const { text, conflicts } = mergeText(base ?? '', ours, theirs);
  return { as: conflicts === 0 ? 'updated' : 'conflicts', text };
}

/** A file that the author has deleted. */
function deleted(base: string, theirs: string): Change {
  return base === theirs ? undefined : { as: 'kept' };
}

/** git may have changed the line ends. */
function isSame(left: string, right: string): boolean {
  return left.replaceAll('\r\n', '\n') === right.replaceAll('\r\n', '\n');
}
