import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { booleanOption, optionWithMethods, requireOptions, textOption, type OptionNames } from '@kctl/options';
import { findRenames } from './find-renames.js';
import { mergeJson } from './merge-json.js';
import { mergeText } from './merge-text.js';
import { ownVersion, renderProject } from './render-project.js';
import { readRecord, writeRecord, type ScaffoldRecord } from './scaffold-record.js';

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

const optionNames: OptionNames<UpdateProjectOptions> = {
  folder: textOption,
  dryRun: booleanOption,
  version: textOption,
  files: optionWithMethods(['get', 'keys'], 'a Map of files'),
};

/** Outcome for the files of a project, paths with slashes. */
export interface UpdateOutcome {
  /** Written anew, or merged with an author's edits without a conflict. */
  readonly updated: readonly string[];
  /** Merged with places that a person has to decide, between markers as git's. */
  readonly conflicts: readonly string[];
  /** No longer part of a project, and never edited. */
  readonly removed: readonly string[];
  /**
   * Left as they are, because they are edited or deleted by the author and without a change, or no longer part of a
   * project.
   */
  readonly kept: readonly string[];
  /**
   * Files with another path in this release. They were moved with their edits, and are `updated` or `conflicts` if they
   * were also merged.
   */
  readonly renamed: readonly RenamedFile[];
  /** A sentence for each value of a JSON file that both have changed; the author's stays. */
  readonly undecided: readonly string[];
}

/** A file that was moved; paths with slashes. */
export interface RenamedFile {
  readonly from: string;
  readonly to: string;
}

interface Change {
  /** Undefined if a file is moved without changes. */
  readonly as?: Exclude<keyof UpdateOutcome, 'undecided' | 'renamed'>;
  /** Its previous path. */
  readonly from?: string;
  readonly text?: string;
  readonly undecided?: readonly string[];
}

/**
 * Updates a project by a three-way merge of its original files, its current files, and those of this release. An edit
 * is never lost. If both have changed the same lines, the file contains both; in JSON files the author's values stay,
 * and are reported. Files that an author has deleted stay deleted. A second run changes nothing.
 *
 * @throws Error if the folder has no record of its original files
 */
export function updateProject(options: UpdateProjectOptions): UpdateOutcome {
  requireOptions('updateProject', options, optionNames);
  const { folder, dryRun = false, version, files } = options;
  const record = readRecord(folder);
  const next = files ?? renderProject(record, version ?? ownVersion());
  const lists: Record<Exclude<keyof UpdateOutcome, 'renamed'>, string[]> = {
    updated: [],
    conflicts: [],
    removed: [],
    kept: [],
    undecided: [],
  };
  const renamed: RenamedFile[] = [];
  const renames = renamesIn(folder, record.files, next);
  const moved = new Set(renames.values());
  const paths = [...new Set([...Object.keys(record.files), ...next.keys()])].filter((path) => !moved.has(path)).sort();
  // Everything is read and merged before anything is written.
  const changes = paths.flatMap((path) => {
    const from = renames.get(path);
    const versions = { base: record.files[from ?? path], theirs: next.get(path) };
    const isMoved = from !== undefined && readOwn(folder, from) !== undefined;
    const change = isMoved ? moveOf(folder, from, versions) : changeAt(folder, path, versions);
    return change === undefined ? [] : [[path, change] as const];
  });
  for (const [path, change] of changes) {
    const target = join(folder, ...path.split('/'));
    if (change.as !== undefined) lists[change.as].push(path);
    if (change.from !== undefined) renamed.push({ from: change.from, to: path });
    lists.undecided.push(...(change.undecided ?? []).map((sentence) => `${path}: ${sentence}`));
    if (dryRun || change.as === 'kept') continue;
    if (change.as === 'removed') rmSync(target);
    else {
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, change.text ?? '');
      if (change.from !== undefined) rmSync(join(folder, ...change.from.split('/')));
    }
  }
  if (!dryRun) writeRecord(folder, { ...record, files: Object.fromEntries(next) });
  return { ...lists, renamed };
}

interface Versions {
  readonly base: string | undefined;
  readonly theirs: string | undefined;
}

/**
 * The files with another path in this release, by their new path. A file of the author that already exists there,
 * beside the old one, is a different file; if the old one is gone, the author has moved or deleted it.
 */
function renamesIn(
  folder: string,
  base: ScaffoldRecord['files'],
  next: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  return new Map(
    [...findRenames({ base, next })].filter(([to, from]) => {
      const own = readOwn(folder, from);
      return own === undefined || (typeof own === 'string' && readOwn(folder, to) === undefined);
    }),
  );
}

/** Returns the change of a file with another path in this release. */
function moveOf(folder: string, from: string, versions: Versions): Change {
  const { as, text, undecided = [] } = changeAt(folder, from, versions) ?? {};
  const isMerged = text !== undefined && as !== undefined && as !== 'kept';
  return { from, undecided, text: text ?? String(readOwn(folder, from)), ...(isMerged ? { as } : {}) };
}

/** Returns the change of the file at a path; undefined if there is no change. */
function changeAt(folder: string, path: string, { base, theirs }: Versions): Change | undefined {
  const own = readOwn(folder, path);
  const isSameRelease = base !== undefined && theirs !== undefined && isSame(base, theirs);
  if (own === other) return isSameRelease ? undefined : { as: 'kept' };
  const change = changeOf(base, own, theirs);
  if (!path.endsWith('.json') || own === undefined || theirs === undefined) return change;
  if (change?.text === undefined || change.text === theirs) return change;
  const merged = mergeJson(base ?? '{}', own, theirs);
  if (merged === undefined) return change;
  return { as: merged.text === own ? 'kept' : 'updated', ...merged };
}

/** Nothing that can be merged. */
const other = Symbol('other');

/**
 * The author's file: {@link other} if there is a folder or a symbolic link, if a folder is now a file or a link, or if it is
 * not UTF-8. Nothing is read, written or deleted through a link, which may lead out of the project.
 */
function readOwn(folder: string, path: string): string | typeof other | undefined {
  const names = path.split('/');
  for (let depth = 1; depth <= names.length; depth++) {
    const place = join(folder, ...names.slice(0, depth));
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    if (found.isSymbolicLink() || found.isDirectory() === (depth === names.length)) return other;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(join(folder, ...names)));
  } catch {
    return other;
  }
}

/** Returns the change of one file; undefined if there is no change. */
function changeOf(base: string | undefined, ours: string | undefined, theirs: string | undefined): Change | undefined {
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
function deleted(base: string, theirs: string): Change | undefined {
  return base === theirs ? undefined : { as: 'kept' };
}

/** git may have changed the line ends, and an editor of Windows may have added a mark at the beginning. */
function isSame(left: string, right: string): boolean {
  return plain(left) === plain(right);
}

function plain(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}
