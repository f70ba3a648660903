import { diff3Merge } from 'node-diff3';

/** A merge of two files with a common base. */
export interface MergedText {
  readonly text: string;
  /** Number of places that both have changed differently. Each contains both versions, between markers as git's. */
  readonly conflicts: number;
}

/** Merges line by line. Line ends, and a mark at the beginning, are those of `ours`. */
export function mergeText(base: string, ours: string, theirs: string): MergedText {
  const ends = ours.split('\n').length - 1;
  const lineEnd = ours.split('\r\n').length - 1 > ends / 2 ? '\r\n' : '\n';
  const mark = ours.startsWith('\uFEFF') ? '\uFEFF' : '';
  const [a, o, b] = [ours, base, theirs].map((text) =>
    text
      .replace(/^\uFEFF/, '')
      .replaceAll('\r\n', '\n')
      .split('\n'),
  );
  let conflicts = 0;
  const lines = diff3Merge(a ?? [], o ?? [], b ?? [], { excludeFalseConflicts: true }).flatMap(({ ok, conflict }) => {
    if (conflict === undefined) return ok ?? [];
    conflicts += 1;
    return [marker('<', ' yours'), ...conflict.a, marker('='), ...conflict.b, marker('>', ' kctl')];
  });
  return { text: mark + lines.join(lineEnd), conflicts };
}

/** A line between what two have made of one, as git writes it. */
function marker(sign: string, whose: string = ''): string {
  return sign.repeat(7) + whose;
}
